/* tidemark_mdb.c — LMDB as it was published, but for its two locks: they are two bytes of lock.mdb, by
 * fcntl(), in place of two named semaphores.
 *
 *   a sandbox          refuses such names, in a Mac app and in an extension; a file that is open
 *                      already can always be locked
 *   a killed process   leaves a semaphore taken; the system lets its locks of a file go
 *   the last to close  takes the names away from who opens at that moment; a file stays
 *
 * Such locks are a process's. LMDB wants an environment to be open once in a process, which has one
 * mutex for the threads.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#define MDB_USE_POSIX_SEM 1

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdint.h>
#include <unistd.h>

static sem_t *tidemark_make(void *environment, const char *name);
static int tidemark_take(sem_t *lock);
static int tidemark_give(sem_t *lock);
static void tidemark_free(sem_t *lock);

/* Where it opens one, `env` is the environment, and its lock.mdb is open. */
#define sem_open(name, ...) tidemark_make(env, name)
#define sem_wait tidemark_take
#define sem_post tidemark_give
#define sem_close tidemark_free
#define sem_unlink(name) ((void)0)

/* Waits for a lock of a file. Two processes are no deadlock where it is other threads of theirs, or
 * other stores, that wait for each other; the system knows processes alone. LMDB looks at what is
 * left in errno by its own wait for the first byte.
 */
static int tidemark_wait(int file, struct flock *lock)
{
    int number;
    while ((number = fcntl(file, F_SETLKW, lock)) != 0 && (errno == EDEADLK || errno == EINTR))
        if (errno == EDEADLK) usleep(1000);
    if (number == 0) errno = 0;
    return number;
}

#define fcntl(file, command, ...) \
    ((command) == F_SETLKW ? tidemark_wait(file, (struct flock *)(intptr_t)(0, ##__VA_ARGS__)) \
                           : fcntl(file, command, ##__VA_ARGS__))

#include "mdb.c"

_Static_assert(sizeof(off_t) >= 8, "the bytes that are locked lie behind any that a process has");

struct tidemark_lock {
    pthread_mutex_t mutex;
    MDB_env *env;
    /* Which byte of lock.mdb. LMDB itself locks the first one, and those of processes' numbers. */
    off_t byte;
};

enum { tidemark_readers, tidemark_writer };

static off_t tidemark_byte(int which) { return ((off_t)1 << 40) + which; }

/* The name is "/MDBr…" for the readers' table, and "/MDBw…" for the writer. Where there is another
 * one, who has the file open locks otherwise.
 */
static sem_t *tidemark_make(void *environment, const char *name)
{
    if (strncmp(name, "/MDBr", 5) != 0 && strncmp(name, "/MDBw", 5) != 0) {
        errno = EBUSY;
        return SEM_FAILED;
    }
    struct tidemark_lock *lock = malloc(sizeof *lock);
    int number = lock == NULL ? ENOMEM : pthread_mutex_init(&lock->mutex, NULL);
    if (number != 0) {
        free(lock);
        errno = number;
        return SEM_FAILED;
    }
    lock->env = environment;
    lock->byte = tidemark_byte(name[4] == 'w' ? tidemark_writer : tidemark_readers);
    return (sem_t *)lock;
}

static int tidemark_change(struct tidemark_lock *lock, short type)
{
    struct flock change;
    memset(&change, 0, sizeof change);
    change.l_type = type;
    change.l_whence = SEEK_SET;
    change.l_start = lock->byte;
    change.l_len = 1;
    return tidemark_wait(lock->env->me_lfd, &change) == 0 ? 0 : errno;
}

/* Where a process died between its commit's last page and this number, the next writer would begin
 * at the commit before, and write over pages of that one. */
static void tidemark_adopt_commit(MDB_env *env)
{
    size_t last = mdb_env_pick_meta(env)->mm_txnid;
    if (env->me_txns->mti_txnid < last) env->me_txns->mti_txnid = last;
}

static int tidemark_take(sem_t *taken)
{
    struct tidemark_lock *lock = (struct tidemark_lock *)taken;
    int number = pthread_mutex_lock(&lock->mutex);
    if (number == 0 && (number = tidemark_change(lock, F_WRLCK)) != 0)
        pthread_mutex_unlock(&lock->mutex);
    if (number != 0) {
        errno = number;
        return -1;
    }
    if (lock->byte == tidemark_byte(tidemark_writer)) tidemark_adopt_commit(lock->env);
    return 0;
}

static int tidemark_give(sem_t *taken)
{
    struct tidemark_lock *lock = (struct tidemark_lock *)taken;
    tidemark_change(lock, F_UNLCK);
    return pthread_mutex_unlock(&lock->mutex);
}

static void tidemark_free(sem_t *closed)
{
    struct tidemark_lock *lock = (struct tidemark_lock *)closed;
    pthread_mutex_destroy(&lock->mutex);
    free(lock);
}
