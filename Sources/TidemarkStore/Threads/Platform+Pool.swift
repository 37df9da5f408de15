// Platform+Pool.swift — the release of what work on a thread leaves to be released later.

#if canImport(ObjectiveC)
    import ObjectiveC
#endif

extension Platform {
    /// Does some work; on Apple's systems what it leaves to be released later is released behind
    /// it: a thread of ours has no pool that is emptied before its end.
    static func draining(_ work: () -> Void) {
        #if canImport(ObjectiveC)
            autoreleasepool { work() }
        #else
            work()
        #endif
    }
}
