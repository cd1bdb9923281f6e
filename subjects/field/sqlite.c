/* SQLite in serialized mode: two threads on one connection. */
#include "result.h"
#include "sqlite3.h"
#include <pthread.h>

static sqlite3 *db;

static void *insert(void *name) {
    for (int i = 0; i < 2; i++) {
        char sql[64];
        snprintf(sql, sizeof sql, "insert into t values ('%s', %d)", (char *)name, i);
        need(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "not inserted");
    }
    return NULL;
}

static char rows[256];
static size_t used;

static int row(void *unused, int count, char **values, char **names) {
    (void)unused, (void)names;
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(rows + used, sizeof rows - used, "%s,", values[i]);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    need(sqlite3_threadsafe() == 1, "not serialized");
    need(sqlite3_open(":memory:", &db) == SQLITE_OK, "not opened");
    need(sqlite3_exec(db, "create table t (who text, n int)", NULL, NULL, NULL) == SQLITE_OK, "no table");
    pthread_create(&threads[0], NULL, insert, "a");
    pthread_create(&threads[1], NULL, insert, "b");
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    need(sqlite3_exec(db, "select who, n from t order by who, n", row, NULL, NULL) == SQLITE_OK, "not read");
    sqlite3_close(db);
    return result(rows, used);
}
