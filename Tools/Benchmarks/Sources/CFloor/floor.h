/* floor.h — LMDB as it is, for the floor that everything else is measured against. */
#include <lmdb.h>
