// The system calls that a single-threaded static program with glibc, Rust's std and libtest makes. The
// only files are the random devices. There are no signals and no threads: clone returns EAGAIN, and
// libtest then runs the test in the main thread. The clock advances by one nanosecond per instruction.
#include "machine.h"

#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>

#include <sys/mman.h>

struct registers { // in the order in which entry.S pushes them
    uint64_t rax, rdi, rsi, rdx, r10, r8, r9, rbx, rbp, r12, r13, r14, r15, rip, rflags;
};

enum { FIRST_FILE = 3, FILES = 64 };
enum { FS_BASE = 0xc0000100, GS_BASE = 0xc0000101 };

static uint64_t brk_start, brk_now;
static uint64_t random_state = 0x9e3779b97f4a7c15UL;
static int is_open[FILES];

void start_brk(uint64_t address) { brk_start = brk_now = address; }

// xorshift64: deterministic.
uint8_t random_byte(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state >> 24;
}

static int equal(const char *a, const char *b) {
    while (*a && *a == *b) a++, b++;
    return *a == *b;
}

static int64_t fill_random(uint8_t *to, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) to[i] = random_byte();
    return count;
}

static int64_t open_file(const char *path) {
    if (!equal(path, "/dev/urandom") && !equal(path, "/dev/random")) return -ENOENT;
    for (int file = FIRST_FILE; file < FILES; file++) {
        if (is_open[file]) continue;
        is_open[file] = 1;
        return file;
    }
    return -EMFILE;
}

static int64_t read_file(uint64_t file, uint8_t *to, uint64_t count) {
    if (file == 0) return 0;
    return file < FILES && is_open[file] ? fill_random(to, count) : -EBADF;
}

static int64_t close_file(uint64_t file) {
    if (file < FILES) is_open[file] = 0;
    return 0;
}

static int64_t stat_file(uint64_t file, struct stat *to) {
    if (file >= FIRST_FILE && !(file < FILES && is_open[file])) return -EBADF;
    memset(to, 0, sizeof *to);
    to->st_nlink = 1;
    to->st_mode = S_IFCHR | 0620;
    to->st_blksize = PAGE;
    return 0;
}

static int64_t write_vector(int file, const struct iovec *parts, uint64_t count) {
    int64_t total = 0;
    for (uint64_t i = 0; i < count; i++) {
        print(file, parts[i].iov_base, parts[i].iov_len);
        total += parts[i].iov_len;
    }
    return total;
}

static int64_t map_memory(uint64_t address, uint64_t bytes, uint64_t protection, uint64_t flags) {
    if (!(flags & MAP_ANONYMOUS)) return -ENODEV;
    bytes = page_up(bytes);
    if (flags & MAP_FIXED) {
        protect(address, bytes, PROT_READ | PROT_WRITE);
        memset((void *)address, 0, bytes);
    } else {
        address = take_pages(bytes);
        if (!address) return -ENOMEM;
    }
    protect(address, bytes, protection);
    return address;
}

static int64_t unmap_memory(uint64_t address, uint64_t bytes) {
    bytes = page_up(bytes);
    protect(address, bytes, PROT_NONE);
    give_pages(address, address + bytes);
    return 0;
}

static int64_t move_brk(uint64_t address) {
    if (address < brk_start || address > brk_start + BRK_SIZE) return brk_now;
    if (address > brk_now) memset((void *)brk_now, 0, address - brk_now);
    return brk_now = address;
}

static int64_t set_segment_base(uint64_t which, uint64_t address) {
    if (which != ARCH_SET_FS && which != ARCH_SET_GS) return -EINVAL;
    write_msr(which == ARCH_SET_FS ? FS_BASE : GS_BASE, address);
    return 0;
}

static int64_t get_time(struct timespec *to) {
    uint64_t now = read_tsc();
    to->tv_sec = now / 1000000000;
    to->tv_nsec = now % 1000000000;
    return 0;
}

static int64_t get_limit(uint64_t resource, struct rlimit *to) {
    if (!to) return 0;
    to->rlim_cur = resource == RLIMIT_STACK ? STACK_SIZE : RLIM_INFINITY;
    to->rlim_max = RLIM_INFINITY;
    return 0;
}

static int64_t get_name(struct utsname *to) {
    memset(to, 0, sizeof *to);
    memcpy(to->sysname, "Linux", 6);
    memcpy(to->nodename, "emulated", 9);
    memcpy(to->release, "6.1.0", 6);
    memcpy(to->machine, "x86_64", 7);
    return 0;
}

static int64_t poll_one(struct pollfd *files, uint64_t count) {
    if (count != 1) return 0;
    files->revents = files->events;
    return 1;
}

static int64_t wait_or_wake(const uint32_t *word, uint64_t operation, uint32_t expected, const void *timeout) {
    enum { FUTEX_WAKE = 1, FUTEX_WAKE_BITSET = 10, COMMAND = 0x7f };
    operation &= COMMAND;
    if (operation == FUTEX_WAKE || operation == FUTEX_WAKE_BITSET) return 0;
    if (*word != expected) return -EAGAIN;
    if (timeout) return -ETIMEDOUT;
    die("deadlock: the only thread waits for the futex at", (uint64_t)word);
}

static void __attribute__((noreturn)) raise_signal(uint64_t signal) {
    say("emulate: the program raised signal 0x");
    say_hex(signal);
    say("\n");
    leave(128 + (signal & 0x7f));
}

static int64_t serve(const struct registers *r) {
    uint64_t a = r->rdi, b = r->rsi, c = r->rdx, d = r->r10;
    switch (r->rax) {
    case SYS_read: return read_file(a, (uint8_t *)b, c);
    case SYS_write:
        if (a != 1 && a != 2) return -EBADF;
        print(a, (const void *)b, c);
        return c;
    case SYS_writev: return a == 1 || a == 2 ? write_vector(a, (const struct iovec *)b, c) : -EBADF;
    case SYS_open: return open_file((const char *)a);
    case SYS_openat: return open_file((const char *)b);
    case SYS_close: return close_file(a);
    case SYS_fstat: return stat_file(a, (struct stat *)b);
    case SYS_newfstatat: return *(const char *)b ? -ENOENT : stat_file((int)a, (struct stat *)c);
    case SYS_fcntl: return 0;
    case SYS_ioctl: return -ENOTTY;
    case SYS_lseek: return -ESPIPE;
    case SYS_poll:
    case SYS_ppoll: return poll_one((struct pollfd *)a, b);
    case SYS_getcwd: memcpy((void *)a, "/", 2); return 2;
    case SYS_readlink: memcpy((void *)b, "/test", 5); return 5;
    case SYS_readlinkat: memcpy((void *)c, "/test", 5); return 5;
    case SYS_pipe:
    case SYS_pipe2:
    case SYS_socketpair:
    case SYS_eventfd2: return -EMFILE;

    case SYS_mmap: return map_memory(a, b, c, d);
    case SYS_munmap: return unmap_memory(a, b);
    case SYS_mprotect: protect(a, page_up(b), c); return 0;
    case SYS_madvise:
        if (c == MADV_DONTNEED) memset((void *)a, 0, b);
        return 0;
    case SYS_brk: return move_brk(a);

    case SYS_exit:
    case SYS_exit_group: leave(a & 0xff);
    case SYS_kill:
    case SYS_tkill: raise_signal(b);
    case SYS_tgkill: raise_signal(c);
    case SYS_rt_sigaction:
        if (c) memset((void *)c, 0, 32);
        return 0;
    case SYS_rt_sigprocmask:
        if (c) memset((void *)c, 0, d);
        return 0;
    case SYS_sigaltstack:
        if (b) *(stack_t *)b = (stack_t){.ss_flags = SS_DISABLE};
        return 0;

    case SYS_arch_prctl: return set_segment_base(a, b);
    case SYS_futex: return wait_or_wake((const uint32_t *)a, b, c, (const void *)d);
    case SYS_clone:
    case SYS_clone3:
    case SYS_fork:
    case SYS_vfork: return -EAGAIN;
    case SYS_getpid:
    case SYS_gettid:
    case SYS_getppid:
    case SYS_set_tid_address: return 1;
    case SYS_getuid:
    case SYS_getgid:
    case SYS_geteuid:
    case SYS_getegid:
    case SYS_sched_yield:
    case SYS_sched_setaffinity:
    case SYS_set_robust_list: return 0;
    case SYS_sched_getaffinity: *(uint64_t *)c = 1; return 8;
    case SYS_getrlimit: return get_limit(a, (struct rlimit *)b);
    case SYS_prlimit64: return get_limit(b, (struct rlimit *)d);
    case SYS_uname: return get_name((struct utsname *)a);
    case SYS_getrandom: return fill_random((uint8_t *)a, b);

    case SYS_clock_gettime: return get_time((struct timespec *)b);
    case SYS_clock_getres: *(struct timespec *)b = (struct timespec){.tv_nsec = 1}; return 0;
    case SYS_nanosleep:
    case SYS_clock_nanosleep: return 0;

    // The callers have a fallback.
    case SYS_mremap:
    case SYS_statx:
    case SYS_rseq: return -ENOSYS;
    default:
        say("emulate: unsupported system call 0x");
        say_hex(r->rax);
        say("\n");
        return -ENOSYS;
    }
}

void system_call(struct registers *r) { r->rax = serve(r); }
