// FileLimit.swift — how large the files of this process may grow, and how many it has open.

import Foundation

#if canImport(Glibc)
    private typealias Resource = __rlimit_resource_t
#else
    private typealias Resource = Int32
#endif

/// Has no file of this process grow larger, nor be written beyond that: for a process that a test
/// has for itself.
///
/// - Returns: what was the most before.
@discardableResult
package func limitFiles(to bytes: UInt64) -> UInt64 {
    signal(SIGXFSZ, SIG_IGN)
    #if canImport(Glibc)
        return setLimit(of: Resource(1), to: bytes)
    #else
        return setLimit(of: RLIMIT_FSIZE, to: bytes)
    #endif
}

/// Has this process, which a test has for itself, open no file whose number would not be below
/// `count`.
///
/// - Returns: what was the most before.
@discardableResult
package func limitDescriptors(to count: UInt64) -> UInt64 {
    #if canImport(Glibc)
        return setLimit(of: Resource(7), to: count)
    #else
        return setLimit(of: RLIMIT_NOFILE, to: count)
    #endif
}

private func setLimit(of resource: Resource, to most: UInt64) -> UInt64 {
    var limit = rlimit()
    unsafe getrlimit(resource, &limit)
    let before = limit.rlim_cur
    limit.rlim_cur = rlim_t(most)
    unsafe setrlimit(resource, &limit)
    return UInt64(before)
}
