// AddressLimit.swift — how much address space this process has.

import Foundation

#if canImport(Glibc)
    /// Gives this process, which a test has for itself, so many bytes of address space beside what
    /// it has taken; nil for as much as it may have.
    package func limitAddressSpace(toMore bytes: UInt64?) throws {
        let ofAddresses = __rlimit_resource_t(9)
        var limit = rlimit()
        unsafe getrlimit(ofAddresses, &limit)
        limit.rlim_cur = limit.rlim_max
        if let bytes {
            let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            let pages = text.split(separator: " ").first.flatMap { UInt64($0) } ?? 0
            limit.rlim_cur = rlim_t(pages * UInt64(sysconf(Int32(_SC_PAGESIZE))) + bytes)
        }
        unsafe setrlimit(ofAddresses, &limit)
    }
#endif
