// Drives the netlist of a cipher pipe clock by clock from a file, and compares every output with the expected one.
// Each line has: rst valid new_key key block user, then due block user. Numbers are hexadecimal, key and block as
// 32-bit words, lowest first. Built by `gates.py` with MODEL (the class), HEADER (its header) and KEY_WORDS.
#include HEADER
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

int main(int, char **arguments) {
    std::ifstream file(arguments[1]);
    std::string line;
    MODEL pipe;
    long clocks = 0, checked = 0, wrong = 0;
    while (std::getline(file, line)) {
        std::istringstream words(line);
        words >> std::hex;
        auto next = [&] { unsigned word = 0; words >> word; return word; };
        pipe.rst = next();
        pipe.in_valid = next();
        pipe.in_new_key = next();
        for (int i = 0; i < KEY_WORDS; i++) pipe.in_key[i] = next();
        for (int i = 0; i < 4; i++) pipe.in_block[i] = next();
        pipe.in_user = next();
        pipe.clk = 0;
        pipe.eval();
        pipe.clk = 1;
        pipe.eval();
        unsigned due = next();
        bool good = pipe.out_valid == due;
        for (int i = 0; i < 4; i++) {
            unsigned word = next();
            if (due) good = good && pipe.out_block[i] == word;
        }
        unsigned user = next();
        if (due) good = good && pipe.out_user == user;
        if (!words) {
            std::fprintf(stderr, "clock %ld: short line\n", clocks);
            return 2;
        }
        clocks++;
        checked += due;
        wrong += !good;
        if (!good && wrong <= 5) std::fprintf(stderr, "clock %ld: wrong\n", clocks);
    }
    std::printf("%ld clocks, %ld blocks, %ld wrong\n", clocks, checked, wrong);
    return wrong || !checked;
}
