/* vendored-locks.c — the locks of Sources/Vendored/CLMDB in several processes: `vendored-locks FOLDER`
 * ends with 0 where they are right, and else says at which line they are not.
 */

#include "tidemark_mdb.c"

#include <sys/wait.h>

#define CHECK(condition) \
    do { if (!(condition)) { fprintf(stderr, "line %d: %s\n", __LINE__, #condition); _exit(1); } } while (0)

static MDB_env *opened(const char *folder, unsigned flags)
{
    MDB_env *env;
    CHECK(mdb_env_create(&env) == 0);
    CHECK(mdb_env_open(env, folder, MDB_NOTLS | flags, 0600) == 0);
    return env;
}

static MDB_txn *begun(MDB_env *env, unsigned flags)
{
    MDB_txn *txn;
    CHECK(mdb_txn_begin(env, NULL, flags, &txn) == 0);
    return txn;
}

/* One more in the table's only record. */
static void count_up(MDB_env *env)
{
    MDB_txn *txn = begun(env, 0);
    MDB_dbi table;
    CHECK(mdb_dbi_open(txn, NULL, 0, &table) == 0);
    MDB_val key = {1, "n"}, value = {0, NULL};
    long number = 0;
    if (mdb_get(txn, table, &key, &value) == 0) memcpy(&number, value.mv_data, sizeof number);
    number += 1;
    value.mv_size = sizeof number;
    value.mv_data = &number;
    CHECK(mdb_put(txn, table, &key, &value, 0) == 0);
    CHECK(mdb_txn_commit(txn) == 0);
}

static long counted(MDB_env *env)
{
    MDB_txn *txn = begun(env, MDB_RDONLY);
    MDB_dbi table;
    CHECK(mdb_dbi_open(txn, NULL, 0, &table) == 0);
    MDB_val key = {1, "n"}, value;
    CHECK(mdb_get(txn, table, &key, &value) == 0);
    long number;
    memcpy(&number, value.mv_data, sizeof number);
    mdb_txn_abort(txn);
    return number;
}

static int waited(pid_t child)
{
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

/* Several processes write at once, and none loses what another wrote. */
static void counts_with_others(const char *folder)
{
    enum { processes = 4, each = 4000 };
    pid_t children[processes];
    for (int child = 0; child < processes; child += 1) {
        children[child] = fork();
        if (children[child] == 0) {
            alarm(60);
            MDB_env *env = opened(folder, MDB_NOSYNC);
            for (int time = 0; time < each; time += 1) count_up(env);
            mdb_env_close(env);
            _exit(0);
        }
    }
    for (int child = 0; child < processes; child += 1) CHECK(waited(children[child]) == 0);
    MDB_env *env = opened(folder, 0);
    CHECK(counted(env) == processes * each);
    mdb_env_close(env);
}

/* A process is killed with the writer's lock, behind the last page of a commit that it has not told
 * the others; one that has the store open goes on with that commit.
 */
static void goes_on_behind_a_killed_writer(const char *folder)
{
    int to_child[2], to_parent[2];
    char byte;
    CHECK(pipe(to_child) == 0 && pipe(to_parent) == 0);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        MDB_env *env = opened(folder, 0);
        count_up(env);
        env->me_txns->mti_txnid -= 1;
        CHECK(LOCK_MUTEX0(env->me_wmutex) == 0);
        env->me_txns->mti_txnid -= 1;
        CHECK(write(to_parent[1], "", 1) == 1);
        CHECK(read(to_child[0], &byte, 1) == 1);
        _exit(1);
    }
    CHECK(read(to_parent[0], &byte, 1) == 1);
    /* It is opened beside the one that is about to be killed, so that nothing is made anew. */
    MDB_env *env = opened(folder, 0);
    txnid_t told = env->me_txns->mti_txnid;
    CHECK(kill(child, SIGKILL) == 0);
    CHECK(WIFSIGNALED(waited(child)));
    MDB_txn *txn = begun(env, 0);
    CHECK(mdb_txn_id(txn) == told + 2);
    mdb_txn_abort(txn);
    long before = counted(env);
    count_up(env);
    CHECK(counted(env) == before + 1);
    mdb_env_close(env);
}

/* Who opens it while the last one closes it finds its locks. */
static void opens_while_another_closes(const char *folder)
{
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        for (int time = 0; time < 300; time += 1) mdb_env_close(opened(folder, MDB_NOSYNC));
        _exit(0);
    }
    for (int time = 0; time < 300; time += 1) {
        MDB_env *env = opened(folder, MDB_NOSYNC);
        count_up(env);
        mdb_env_close(env);
    }
    CHECK(waited(child) == 0);
}

int main(int count, char **words)
{
    CHECK(count == 2);
    alarm(120);
    counts_with_others(words[1]);
    goes_on_behind_a_killed_writer(words[1]);
    opens_while_another_closes(words[1]);
    return 0;
}
