// FileLimit.swift — how large the files of this process may grow, and how many it has open.

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

/// Has this process, which a test has for itself, open no file whose number would not be below
/// `count`.
///
/// - Returns: what was the most before.
@discardableResult
package func limitDescriptors(to count: UInt64) -> UInt64 {
    #if canImport(Glibc)
        let ofDescriptors = __rlimit_resource_t(7)
    #else
        let ofDescriptors = RLIMIT_NOFILE
    #endif
    var limit = rlimit()
    unsafe getrlimit(ofDescriptors, &limit)
    let before = limit.rlim_cur
    limit.rlim_cur = rlim_t(count)
    unsafe setrlimit(ofDescriptors, &limit)
    return UInt64(before)
}
