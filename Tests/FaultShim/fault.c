// fault.c — lets one system call of a process fail, or kills the process at it. A test compiles this
// into a library and has it loaded before libc (LD_PRELOAD).
//
//   TIDEMARK_FAULT_CALLS   names of the calls that count: "pwrite fdatasync"
//   TIDEMARK_FAULT_NUMBER  which of them fails, counted from 1; 0 or nothing: none
//   TIDEMARK_FAULT_ERRNO   the errno it fails with; 0: the process is killed before the call; below
//                          0: half of what it writes (of buffers, half of these) is written, and
//                          the next ones fail with -errno
//   TIDEMARK_FAULT_MARK    a file that is made when it happened
//
// tidemark_fault_arm() lets the process itself say when the counting begins; tidemark_fault_seen()
// says how many there were since then. Of mmap only shared mappings of files count, which is what
// LMDB makes; "stat" stands for fstat and lstat, too.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static char calls[256];
static atomic_long number, seen;
static int failure;

void tidemark_fault_arm(const char *names, long which, int error) {
    snprintf(calls, sizeof calls, " %s ", names);
    failure = error;
    atomic_store(&seen, 0);
    atomic_store(&number, which);
}

long tidemark_fault_seen(void) { return atomic_load(&seen); }

__attribute__((constructor)) static void begin(void) {
    const char *names = getenv("TIDEMARK_FAULT_CALLS"), *which = getenv("TIDEMARK_FAULT_NUMBER");
    const char *error = getenv("TIDEMARK_FAULT_ERRNO");
    if (names && which) tidemark_fault_arm(names, atol(which), error ? atoi(error) : EIO);
}

// Whether a call counts.
static int counts(const char *name) {
    char word[32];
    if (atomic_load(&number) == 0) return 0;
    snprintf(word, sizeof word, " %s ", name);
    return strstr(calls, word) != NULL;
}

// Whether this call is the one of which half is made, because there is no room for more.
static int is_half(const char *name) {
    if (failure >= 0 || !counts(name) || atomic_load(&seen) + 1 != atomic_load(&number)) return 0;
    atomic_fetch_add(&seen, 1);
    return 1;
}

// Whether this call is the one, or one after it where there is no room; errno is set then.
static int fails(const char *name) {
    if (!counts(name)) return 0;
    long place = atomic_fetch_add(&seen, 1) + 1, first = atomic_load(&number);
    if (failure < 0 ? place <= first : place != first) return 0;
    const char *mark = getenv("TIDEMARK_FAULT_MARK");
    if (mark) close(syscall(SYS_openat, AT_FDCWD, mark, O_WRONLY | O_CREAT, 0600));
    if (failure == 0) kill(getpid(), SIGKILL);
    errno = failure < 0 ? -failure : failure;
    return 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t pwrite(int file, const void *bytes, size_t count, off_t at) {
    if (is_half("pwrite")) return NEXT(pwrite)(file, bytes, count / 2, at);
    return fails("pwrite") ? -1 : NEXT(pwrite)(file, bytes, count, at);
}
ssize_t pwrite64(int file, const void *bytes, size_t count, off_t at) {
    if (is_half("pwrite")) return NEXT(pwrite64)(file, bytes, count / 2, at);
    return fails("pwrite") ? -1 : NEXT(pwrite64)(file, bytes, count, at);
}
ssize_t writev(int file, const struct iovec *parts, int count) {
    if (is_half("pwrite")) return NEXT(writev)(file, parts, count / 2);
    return fails("pwrite") ? -1 : NEXT(writev)(file, parts, count);
}
ssize_t pwritev(int file, const struct iovec *parts, int count, off_t at) {
    if (is_half("pwrite")) return NEXT(pwritev)(file, parts, count / 2, at);
    return fails("pwrite") ? -1 : NEXT(pwritev)(file, parts, count, at);
}
int fdatasync(int file) { return fails("fdatasync") ? -1 : NEXT(fdatasync)(file); }
int fsync(int file) { return fails("fsync") ? -1 : NEXT(fsync)(file); }
int ftruncate(int file, off_t size) { return fails("ftruncate") ? -1 : NEXT(ftruncate)(file, size); }
int ftruncate64(int file, off_t size) {
    return fails("ftruncate") ? -1 : NEXT(ftruncate64)(file, size);
}
int fchmod(int file, mode_t mode) { return fails("fchmod") ? -1 : NEXT(fchmod)(file, mode); }
int mkdir(const char *path, mode_t mode) { return fails("mkdir") ? -1 : NEXT(mkdir)(path, mode); }
int unlink(const char *path) { return fails("unlink") ? -1 : NEXT(unlink)(path); }
int rename(const char *from, const char *to) { return fails("rename") ? -1 : NEXT(rename)(from, to); }
int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return fails("open") ? -1 : NEXT(open)(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return fails("open") ? -1 : NEXT(open64)(path, flags, mode);
}
ssize_t pread(int file, void *bytes, size_t count, off_t at) {
    return fails("pread") ? -1 : NEXT(pread)(file, bytes, count, at);
}
ssize_t pread64(int file, void *bytes, size_t count, off_t at) {
    return fails("pread") ? -1 : NEXT(pread64)(file, bytes, count, at);
}
int stat(const char *path, struct stat *found) {
    return fails("stat") ? -1 : NEXT(stat)(path, found);
}
int lstat(const char *path, struct stat *found) {
    return fails("stat") ? -1 : NEXT(lstat)(path, found);
}
int fstat(int file, struct stat *found) { return fails("stat") ? -1 : NEXT(fstat)(file, found); }
DIR *opendir(const char *path) { return fails("opendir") ? NULL : NEXT(opendir)(path); }
void *mmap(void *at, size_t size, int access, int flags, int file, off_t offset) {
    return flags & MAP_SHARED && file >= 0 && fails("mmap")
               ? MAP_FAILED
               : NEXT(mmap)(at, size, access, flags, file, offset);
}
void *mmap64(void *at, size_t size, int access, int flags, int file, off_t offset) {
    return flags & MAP_SHARED && file >= 0 && fails("mmap")
               ? MAP_FAILED
               : NEXT(mmap64)(at, size, access, flags, file, offset);
}
