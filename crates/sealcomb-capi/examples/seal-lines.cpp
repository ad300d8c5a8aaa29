// Seals each line of a file as a separate record, or opens the records again, with several threads.
//
//     seal-lines seal KEYFILE IN OUT [THREADS]
//     seal-lines open KEYFILE IN OUT [THREADS]
//
// The key file has 64 random bytes. A record consists of the line's length (4 bytes, big-endian), the tag (16 bytes)
// and the ciphertext. The algorithm is AES-256-SIV. The additional data is the line's number and whether it is the
// last one, so that lines cannot be reordered, removed or added.
//
// This needs no random numbers and no counter that could repeat. It reveals whether two files have the same line at
// the same position. Each thread processes a range of the records in batches of 1024.
#include <sealcomb.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t tag_bytes = 16;
constexpr std::size_t batch = 1024;

using Key = std::unique_ptr<sealcomb_key, decltype(&sealcomb_key_free)>;

void check(sealcomb_status status) {
    if (status != SEALCOMB_OK) {
        throw std::runtime_error(sealcomb_status_text(status));
    }
}

std::string read_file(const std::string &name) {
    std::ifstream file(name, std::ios::binary);
    if (!file) {
        throw std::runtime_error(name + ": cannot be read");
    }
    return {std::istreambuf_iterator<char>(file), {}};
}

Key read_key(const std::string &name) {
    std::string bytes = read_file(name);
    sealcomb_key *key = nullptr;
    sealcomb_status status = sealcomb_key_new(sealcomb_algorithm_by_id("aes256-siv"),
                                              reinterpret_cast<const std::uint8_t *>(bytes.data()), bytes.size(), &key);
    std::fill(bytes.begin(), bytes.end(), '\0');
    check(status);
    return {key, &sealcomb_key_free};
}

struct Record {
    std::array<std::uint8_t, 9> place{};
    std::array<std::uint8_t, tag_bytes> tag{};
    std::vector<std::uint8_t> data;

    Record(std::string_view bytes, std::uint64_t number) : data(bytes.begin(), bytes.end()) {
        for (std::size_t i = 8; i-- > 0; number >>= 8) {
            place[i] = static_cast<std::uint8_t>(number);
        }
    }
};

std::vector<Record> from_lines(std::string_view text) {
    std::vector<Record> records;
    for (std::size_t from = 0; from <= text.size();) {
        std::size_t to = std::min(text.find('\n', from), text.size());
        records.emplace_back(text.substr(from, to - from), records.size());
        from = to + 1;
    }
    return records;
}

std::string to_lines(const std::vector<Record> &records) {
    std::string text;
    for (const Record &record : records) {
        text.append(record.data.begin(), record.data.end()).push_back('\n');
    }
    text.pop_back();
    return text;
}

std::vector<Record> from_sealed(std::string_view sealed) {
    std::vector<Record> records;
    while (!sealed.empty()) {
        std::size_t length = 0;
        for (std::size_t i = 0; i < 4 && i < sealed.size(); i++) {
            length = length << 8 | static_cast<std::uint8_t>(sealed[i]);
        }
        if (sealed.size() < 4 + tag_bytes || sealed.size() - 4 - tag_bytes < length) {
            throw std::runtime_error("truncated file");
        }
        Record &record = records.emplace_back(sealed.substr(4 + tag_bytes, length), records.size());
        std::copy_n(sealed.begin() + 4, tag_bytes, record.tag.begin());
        sealed.remove_prefix(4 + tag_bytes + length);
    }
    if (records.empty()) {
        throw std::runtime_error("truncated file");
    }
    return records;
}

std::string to_sealed(const std::vector<Record> &records) {
    std::string sealed;
    for (const Record &record : records) {
        if (record.data.size() > UINT32_MAX) {
            throw std::runtime_error("line of 4 GiB or more");
        }
        for (int shift = 24; shift >= 0; shift -= 8) {
            sealed.push_back(static_cast<char>(record.data.size() >> shift));
        }
        sealed.append(record.tag.begin(), record.tag.end());
        sealed.append(record.data.begin(), record.data.end());
    }
    return sealed;
}

// Seals or opens a range of records; returns the first status other than SEALCOMB_OK, if any.
sealcomb_status work(bool seals, const sealcomb_key *key, Record *record, std::size_t count) {
    std::vector<sealcomb_job> jobs;
    jobs.reserve(std::min(count, batch));
    sealcomb_status status = SEALCOMB_OK;
    while (count > 0 && status == SEALCOMB_OK) {
        jobs.clear();
        for (; count > 0 && jobs.size() < batch; count--, record++) {
            sealcomb_job job{};
            job.size = sizeof job;
            job.key = key;
            job.aad = record->place.data();
            job.aad_bytes = record->place.size();
            job.input = job.output = record->data.data();
            job.input_bytes = job.output_bytes = record->data.size();
            job.tag = record->tag.data();
            job.tag_bytes = record->tag.size();
            jobs.push_back(job);
        }
        status = seals ? sealcomb_seal_jobs(jobs.data(), jobs.size()) : sealcomb_open_jobs(jobs.data(), jobs.size());
    }
    return status;
}

void work(bool seals, const sealcomb_key *key, std::vector<Record> &records, std::size_t threads) {
    records.back().place.back() = 1;
    std::vector<std::thread> running;
    std::vector<sealcomb_status> results(threads, SEALCOMB_OK);
    for (std::size_t i = 0; i < threads; i++) {
        std::size_t from = records.size() * i / threads, to = records.size() * (i + 1) / threads;
        running.emplace_back([&, i, from, to] { results[i] = work(seals, key, records.data() + from, to - from); });
    }
    for (std::thread &thread : running) {
        thread.join();
    }
    for (sealcomb_status result : results) {
        check(result);
    }
}

std::size_t threads_of(int count, char **arguments) {
    std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
    if (count > 5) {
        const char *end = arguments[5] + std::strlen(arguments[5]);
        auto [at, error] = std::from_chars(arguments[5], end, threads);
        if (error != std::errc{} || at != end || threads < 1 || threads > 1024) {
            throw std::runtime_error("invalid number of threads: expected 1 to 1024");
        }
    }
    return threads;
}

} // namespace

int main(int count, char **arguments) try {
    std::string_view word = count > 1 ? arguments[1] : "";
    bool seals = word == "seal";
    if ((!seals && word != "open") || count < 5 || count > 6) {
        throw std::runtime_error("usage: seal-lines seal|open KEYFILE IN OUT [THREADS]");
    }
    std::size_t threads = threads_of(count, arguments);
    Key key = read_key(arguments[2]);
    std::string in = read_file(arguments[3]);
    std::vector<Record> records = seals ? from_lines(in) : from_sealed(in);
    work(seals, key.get(), records, threads);
    std::string out = seals ? to_sealed(records) : to_lines(records);
    std::ofstream file(arguments[4], std::ios::binary);
    if (!file.write(out.data(), static_cast<std::streamsize>(out.size())) || !file.flush()) {
        throw std::runtime_error(std::string(arguments[4]) + ": cannot be written");
    }
    std::cout << records.size() << " records " << (seals ? "sealed" : "opened") << " by " << threads << " threads\n";
    return 0;
} catch (const std::exception &error) {
    std::cerr << "seal-lines: " << error.what() << '\n';
    return 1;
}
