// What Swift needs beside lmdb.h: the id of the running thread, asked from the kernel each time, and
// a name for it. pthread_self() won't do: glibc declares it const, so an optimised build may ask once
// and keep the answer. pthread_setname_np() is out of Swift's sight without _GNU_SOURCE, and statfs()
// isn't in its Glibc module: tidemark_file_system_type() answers the type's number on Linux, elsewhere
// 0 for a local file system and NFS's number for another, and -1 on an error. tidemark_reserve() gives
// a file room on the disk without making it longer; it answers an errno, and 0 where that is not known.
// tidemark_write_in_place() has what an empty file gets be written over in place, where it can.
// tidemark_clone() lets a file share the blocks of another one; it answers 0 only where it does.
// tidemark_begin_flush() has a part of a file begin to go to the disk, where it can.
// tidemark_try_map() maps a file to be read, and takes the map away again; it answers an errno.
// tidemark_boot_session() writes the name that Darwin gives each start, with a zero at its end; it
// answers an errno. tidemark_host_id() writes the 16 bytes of a Mac's id; it answers an errno, too.
#ifndef TIDEMARK_CLMDB_SHIM_H
#define TIDEMARK_CLMDB_SHIM_H

#include <errno.h>
#include <lmdb.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

static inline int tidemark_try_map(int file, size_t bytes) {
    void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
    if (map == MAP_FAILED) return errno;
    munmap(map, bytes);
    return 0;
}

#if defined(__APPLE__)
#include <TargetConditionals.h>
#include <pthread.h>
#include <sys/mount.h>
#include <sys/param.h>
#include <sys/sysctl.h>
#include <time.h>
#include <uuid/uuid.h>
#include <unistd.h>
static inline int64_t tidemark_file_system_type(const char *path) {
    struct statfs status;
    if (statfs(path, &status) != 0) return -1;
    return status.f_flags & MNT_LOCAL ? 0 : 0x6969;
}
static inline uint64_t tidemark_thread_id(void) {
    uint64_t identifier = 0;
    pthread_threadid_np(NULL, &identifier);
    return identifier;
}
static inline void tidemark_name_thread(const char *name) { pthread_setname_np(name); }
static inline int tidemark_reserve(int file, long bytes) {
    (void)file, (void)bytes;
    return 0;
}
static inline void tidemark_write_in_place(int file) { (void)file; }
static inline int tidemark_clone(int from, int to) {
    (void)from, (void)to;
    return -1;
}
static inline void tidemark_begin_flush(int file, int64_t from, int64_t bytes) {
    (void)file, (void)from, (void)bytes;
}
static inline int tidemark_boot_session(void *text, size_t bytes) {
    return sysctlbyname("kern.bootsessionuuid", text, &bytes, NULL, 0) == 0 ? 0 : errno;
}
static inline int tidemark_host_id(void *bytes) {
#if TARGET_OS_OSX
    struct timespec wait = {1, 0};
    return gethostuuid((unsigned char *)bytes, &wait) == 0 ? 0 : errno;
#else
    (void)bytes;
    return ENOSYS;
#endif
}
#else
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
static inline int64_t tidemark_file_system_type(const char *path) {
    struct statfs status;
    return statfs(path, &status) == 0 ? (int64_t)(uint32_t)status.f_type : -1;
}
static inline uint64_t tidemark_thread_id(void) {
    return (uint64_t)syscall(SYS_gettid);
}
static inline void tidemark_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
static inline int tidemark_reserve(int file, long bytes) {
    if (syscall(SYS_fallocate, file, 1 /* keep the size */, 0L, bytes) == 0) return 0;
    return errno == EOPNOTSUPP || errno == ENOSYS ? 0 : errno;
}
static inline void tidemark_write_in_place(int file) {
    int flags[2] = {0, 0};  // The kernel's is an int, though the numbers are made with long.
    if (ioctl(file, 0x80086601 /* FS_IOC_GETFLAGS */, flags) != 0) return;
    flags[0] |= 0x00800000;  // FS_NOCOW_FL
    ioctl(file, 0x40086602 /* FS_IOC_SETFLAGS */, flags);
}
static inline int tidemark_clone(int from, int to) {
    return ioctl(to, 0x40049409 /* FICLONE */, from);
}
static inline void tidemark_begin_flush(int file, int64_t from, int64_t bytes) {
    syscall(SYS_sync_file_range, file, (long)from, (long)bytes, 2 /* begin to write */);
}
static inline int tidemark_boot_session(void *text, size_t bytes) {
    (void)text, (void)bytes;
    return ENOSYS;
}
static inline int tidemark_host_id(void *bytes) {
    (void)bytes;
    return ENOSYS;
}
#endif

// CRC32C by the processor's own instruction, where there is one; the state goes in and out as it is.
#if defined(__x86_64__)
#define TIDEMARK_CRC32C_TARGET __attribute__((target("sse4.2")))
#define TIDEMARK_CRC32C_8(crc, value) (uint32_t)__builtin_ia32_crc32di(crc, value)
#define TIDEMARK_CRC32C_1(crc, value) __builtin_ia32_crc32qi(crc, value)
static inline int tidemark_has_crc32c(void) { return __builtin_cpu_supports("sse4.2"); }
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#define TIDEMARK_CRC32C_TARGET
#define TIDEMARK_CRC32C_8(crc, value) __builtin_arm_crc32cd(crc, value)
#define TIDEMARK_CRC32C_1(crc, value) __builtin_arm_crc32cb(crc, value)
static inline int tidemark_has_crc32c(void) { return 1; }
#else
static inline int tidemark_has_crc32c(void) { return 0; }
#endif

// How many bytes each of three lanes has that are computed side by side: an instruction takes three
// cycles, and one can begin with each.
#define TIDEMARK_CRC32C_LANE 96

#if defined(TIDEMARK_CRC32C_TARGET)
// What a state is after as many zero bytes as a lane has, by four tables for its four bytes.
static inline uint32_t tidemark_crc32c_shifted(uint32_t crc, const uint32_t *lane) {
    return lane[crc & 0xFF] ^ lane[256 + (crc >> 8 & 0xFF)] ^ lane[512 + (crc >> 16 & 0xFF)]
        ^ lane[768 + (crc >> 24)];
}

TIDEMARK_CRC32C_TARGET
static inline uint32_t tidemark_crc32c(
    uint32_t crc, const uint8_t *bytes, size_t count, const uint32_t *lane
) {
    for (; count >= 3 * TIDEMARK_CRC32C_LANE; count -= 3 * TIDEMARK_CRC32C_LANE) {
        uint32_t second = 0, third = 0;
        for (int index = 0; index < TIDEMARK_CRC32C_LANE; index += 8) {
            uint64_t words[3];
            __builtin_memcpy(&words[0], bytes + index, 8);
            __builtin_memcpy(&words[1], bytes + index + TIDEMARK_CRC32C_LANE, 8);
            __builtin_memcpy(&words[2], bytes + index + 2 * TIDEMARK_CRC32C_LANE, 8);
            crc = TIDEMARK_CRC32C_8(crc, words[0]);
            second = TIDEMARK_CRC32C_8(second, words[1]);
            third = TIDEMARK_CRC32C_8(third, words[2]);
        }
        crc = tidemark_crc32c_shifted(crc, lane) ^ second;
        crc = tidemark_crc32c_shifted(crc, lane) ^ third;
        bytes += 3 * TIDEMARK_CRC32C_LANE;
    }
    for (; count >= 8; bytes += 8, count -= 8) {
        uint64_t word;
        __builtin_memcpy(&word, bytes, 8);
        crc = TIDEMARK_CRC32C_8(crc, word);
    }
    for (; count > 0; bytes++, count--) crc = TIDEMARK_CRC32C_1(crc, *bytes);
    return crc;
}
#else
static inline uint32_t tidemark_crc32c(
    uint32_t crc, const uint8_t *bytes, size_t count, const uint32_t *lane
) {
    return crc;
}
#endif

#endif
