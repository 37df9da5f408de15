// What Swift needs beside lmdb.h: the id of the running thread, asked from the kernel each time, and
// a name for it. pthread_self() won't do: glibc declares it const, so an optimised build may ask once
// and keep the answer. pthread_setname_np() is out of Swift's sight without _GNU_SOURCE.
#ifndef TIDEMARK_CLMDB_SHIM_H
#define TIDEMARK_CLMDB_SHIM_H

#include <lmdb.h>
#include <stdint.h>

#if defined(__APPLE__)
#include <pthread.h>
static inline uint64_t tidemark_thread_id(void) {
    uint64_t identifier = 0;
    pthread_threadid_np(NULL, &identifier);
    return identifier;
}
static inline void tidemark_name_thread(const char *name) { pthread_setname_np(name); }
#else
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
static inline uint64_t tidemark_thread_id(void) {
    return (uint64_t)syscall(SYS_gettid);
}
static inline void tidemark_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
#endif

#endif
