// FileLimit.swift — how large the files of this process may grow.

import Foundation

/// Has no file of this process grow larger, nor be written beyond that: for a process that a test
/// has for itself.
///
/// - Returns: what was the most before.
@discardableResult
package func limitFiles(to bytes: UInt64) -> UInt64 {
    #if canImport(Glibc)
        let ofFiles = __rlimit_resource_t(1)
    #else
        let ofFiles = RLIMIT_FSIZE
    #endif
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit()
    unsafe getrlimit(ofFiles, &limit)
    let before = limit.rlim_cur
    limit.rlim_cur = rlim_t(bytes)
    unsafe setrlimit(ofFiles, &limit)
    return UInt64(before)
}
