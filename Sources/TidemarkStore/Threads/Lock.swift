// Lock.swift — a lock that contains its value, so that it can't be touched without it.

#if TIDEMARK_TSAN
    /// A value behind a mutex that ThreadSanitizer understands; see the other one.
    @safe package final class Lock<Value>: @unchecked Sendable {
        // @unchecked because: `value` is touched only while `lock` is held.
        private let lock = PlatformLock()
        private var value: Value

        /// A lock around `value`.
        package init(_ value: consuming sending Value) { self.value = value }

        /// Runs `body` alone with the value.
        package func withLock<R, E>(
            _ body: (inout sending Value) throws(E) -> sending R
        ) throws(E) -> sending R {
            lock.lock()
            defer { lock.unlock() }
            return try body(&value)
        }
    }
#else
    package import Synchronization

    /// A value behind a mutex.
    ///
    /// Built over `Synchronization.Mutex`; with `-DTIDEMARK_TSAN` over a pthread mutex, because
    /// ThreadSanitizer reports races on the former that do not exist.
    ///
    /// Inlined into other modules, which else would make its generic types at run time.
    package final class Lock<Value>: Sendable {
        @usableFromInline let mutex: Mutex<Value>

        /// A lock around `value`.
        package init(_ value: consuming sending Value) { mutex = Mutex(value) }

        /// Runs `body` alone with the value; `body` must not use the same lock.
        @inlinable package func withLock<R, E>(
            _ body: (inout sending Value) throws(E) -> sending R
        ) throws(E) -> sending R {
            try mutex.withLock(body)
        }
    }
#endif
