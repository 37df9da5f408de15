// zstd's stable interface, and the numbers of its errors.
#ifndef TIDEMARK_CZSTD_SHIM_H
#define TIDEMARK_CZSTD_SHIM_H

#include <zstd.h>
#include <zstd_errors.h>

#endif
