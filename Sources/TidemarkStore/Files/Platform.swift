// Platform.swift — every libc call of this module; the only file that knows which system it is on.

import CLMDB

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// An errno as an error.
struct SystemNumber: Error {
    let number: Int32
}

/// Which file this is, whatever path led to it.
package struct FileIdentity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
}

/// What stat says.
struct FileStatus: Sendable {
    enum Kind: Sendable { case regular, directory, link, other }

    let identity: FileIdentity
    let kind: Kind
    let sizeBytes: Int
    let links: Int
    /// Whether only the owner may touch it.
    let isPrivate: Bool
    let mark: FileMark
}

enum Platform {
    static let noEntry = ENOENT
    static let noSpace = ENOSPC
    static let overQuota = EDQUOT
    static let fileTooBig = EFBIG
    static let accessDenied = EACCES
    static let notPermitted = EPERM
    static let readOnlyFileSystem = EROFS
    static let staleFile = ESTALE
    static let notADirectory = ENOTDIR
    static let nameTooLong = ENAMETOOLONG
    static let tooManyLinks = ELOOP
    static let exists = EEXIST
    static let notEmpty = ENOTEMPTY
    static let inputOutput = EIO
    static let invalidArgument = EINVAL
    static let noMemory = ENOMEM
    static let noDescriptor = EMFILE
    static let noFile = ENFILE

    static func require(
        _ holds: Bool, _ sentence: @autoclosure () -> String, file: StaticString = #fileID,
        line: UInt = #line
    ) {
        // Not `precondition`: an optimised build would drop the sentence.
        if !holds { fatalError(sentence(), file: file, line: line) }
    }
}

// MARK: - Files

extension Platform {
    static func status(of path: String, followingLinks: Bool) throws(SystemNumber) -> FileStatus {
        var raw = stat()
        let code = unsafe followingLinks ? stat(path, &raw) : lstat(path, &raw)
        guard code == 0 else { throw SystemNumber(number: errno) }
        return FileStatus(raw)
    }

    static func status(of descriptor: Int32) throws(SystemNumber) -> FileStatus {
        var raw = stat()
        guard unsafe fstat(descriptor, &raw) == 0 else { throw SystemNumber(number: errno) }
        return FileStatus(raw)
    }

    static func makeDirectory(_ path: String) throws(SystemNumber) {
        guard unsafe mkdir(path, 0o700) == 0 else { throw SystemNumber(number: errno) }
    }

    /// Makes names that were created in a directory durable.
    static func syncDirectory(_ path: String) throws(SystemNumber) {
        let descriptor = try openDirectory(path)
        defer { close(descriptor) }
        try sync(descriptor)
    }

    /// Whether the effective user may write the file; asks without opening it, because closing any
    /// descriptor of a file drops this process's locks on it.
    static func isWritable(_ path: String) -> Bool {
        unsafe faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0
    }

    static func openForReading(_ path: String) throws(SystemNumber) -> Int32 {
        try open(path, O_RDONLY | O_NOFOLLOW)
    }

    static func closeFile(_ descriptor: Int32) { close(descriptor) }

    static func closeOnExec(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    /// Another descriptor of the same opening, which shares its locks.
    static func duplicate(_ descriptor: Int32) throws(SystemNumber) -> Int32 {
        let other = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard other >= 0 else { throw SystemNumber(number: errno) }
        return other
    }

    /// Up to `count` bytes at `offset`; fewer only at the end of the file.
    static func read(
        _ descriptor: Int32, at offset: Int, count: Int
    ) throws(SystemNumber) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe pread(
                    descriptor, buffer.baseAddress.map { unsafe $0 + filled }, count - filled,
                    off_t(offset + filled))
            }
            guard got >= 0 else { throw SystemNumber(number: errno) }
            if got == 0 { break }
            filled += got
        }
        bytes.removeLast(count - filled)
        return bytes
    }

    /// Whether the process has address space for a map of so many bytes of an open file.
    static func canMap(_ descriptor: Int32, bytes: Int) -> Bool {
        tidemark_try_map(descriptor, bytes) == 0
    }

    /// The bytes of a page of memory.
    static let pageBytes = Int(sysconf(Int32(_SC_PAGESIZE)))

    /// The bytes that this process may still add to the file system of an open file, and the bytes
    /// that it has in all; nil where it does not tell.
    static func space(_ descriptor: Int32) -> (free: Int, size: Int)? {
        #if canImport(Darwin)
            // Its statvfs() counts blocks in 32 bits.
            var raw = statfs()
            guard unsafe fstatfs(descriptor, &raw) == 0, raw.f_blocks > 0 else { return nil }
            let block = UInt64(raw.f_bsize)
        #else
            var raw = statvfs()
            guard unsafe fstatvfs(descriptor, &raw) == 0, raw.f_blocks > 0 else { return nil }
            let block = UInt64(raw.f_frsize)
        #endif
        return (
            free: Int(clamping: UInt64(raw.f_bavail) &* block),
            size: Int(clamping: UInt64(raw.f_blocks) &* block)
        )
    }

    /// The length in bytes over which this process may not grow a file.
    static var fileBytesLimit: Int? {
        #if canImport(Glibc)
            limit(of: __rlimit_resource_t(RLIMIT_FSIZE.rawValue))
        #else
            limit(of: RLIMIT_FSIZE)
        #endif
    }

    /// The bytes of address space that this process may have.
    static var addressBytesLimit: Int? {
        #if canImport(Glibc)
            limit(of: __rlimit_resource_t(RLIMIT_AS.rawValue))
        #else
            limit(of: RLIMIT_AS)
        #endif
    }

    #if canImport(Glibc)
        private typealias Resource = __rlimit_resource_t
    #else
        private typealias Resource = Int32
    #endif

    private static func limit(of resource: Resource) -> Int? {
        var limit = rlimit()
        guard unsafe getrlimit(resource, &limit) == 0 else { return nil }
        return Int(clamping: limit.rlim_cur)
    }

    /// Opens those of standard input, output and error that are closed, as empty.
    ///
    /// - Returns: the numbers of those.
    @discardableResult
    static func openStandardStreams() -> [Int32] {
        (0...2).filter { number in
            guard fcntl(number, F_GETFD) < 0 else { return false }
            #if canImport(Glibc)
                let opened = unsafe Glibc.open("/dev/null", O_RDWR)
            #else
                let opened = unsafe Darwin.open("/dev/null", O_RDWR)
            #endif
            if opened > 2 { close(opened) }
            return opened == number
        }
    }

    /// Whether an open file is the empty one.
    private static func isNullDevice(_ descriptor: Int32) -> Bool {
        var (own, null) = (stat(), stat())
        guard unsafe fstat(descriptor, &own) == 0, unsafe stat("/dev/null", &null) == 0 else {
            return false
        }
        return own.st_mode & S_IFMT == S_IFCHR && own.st_rdev == null.st_rdev
    }

    /// The standard streams that are open only as long as some files are being opened.
    private struct Reserved {
        var openings = 0
        var streams: [Int32] = []
    }
    private static let reserved = Lock(Reserved())

    /// Opens files, none of which gets the number of a standard stream that is closed: what the
    /// process writes there would go into the file.
    static func besideStandardStreams<R, E>(_ opening: () throws(E) -> R) throws(E) -> R {
        reserved.withLock { reserved in
            if reserved.openings == 0 { reserved.streams = openStandardStreams() }
            reserved.openings += 1
        }
        defer {
            reserved.withLock { reserved in
                reserved.openings -= 1
                guard reserved.openings == 0 else { return }
                // Others may have opened a stream in its place meanwhile.
                for stream in reserved.streams where isNullDevice(stream) { close(stream) }
            }
        }
        return try opening()
    }

    static func open(
        _ path: String, _ flags: Int32, mode: mode_t = 0
    ) throws(SystemNumber) -> Int32 {
        try besideStandardStreams { () throws(SystemNumber) in
            #if canImport(Glibc)
                let descriptor = unsafe Glibc.open(path, flags | O_CLOEXEC, mode)
            #else
                let descriptor = unsafe Darwin.open(path, flags | O_CLOEXEC, mode)
            #endif
            guard descriptor >= 0 else { throw SystemNumber(number: errno) }
            return descriptor
        }
    }
}

extension FileStatus {
    fileprivate init(_ raw: stat) {
        identity = FileIdentity(
            device: UInt64(truncatingIfNeeded: raw.st_dev),
            inode: UInt64(truncatingIfNeeded: raw.st_ino))
        kind =
            switch raw.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .link
            default: .other
            }
        sizeBytes = Int(raw.st_size)
        links = Int(raw.st_nlink)
        isPrivate = raw.st_mode & 0o077 == 0
        #if canImport(Darwin)
            let modified = raw.st_mtimespec
        #else
            let modified = raw.st_mtim
        #endif
        mark = FileMark(
            inode: Int64(truncatingIfNeeded: identity.inode), bytes: sizeBytes,
            modified: Int64(modified.tv_sec) &* 1_000_000_000 &+ Int64(modified.tv_nsec))
    }
}

// MARK: - Bytes

extension Platform {
    /// Whether both pointers show the same `count` bytes.
    static func areEqual(
        _ left: UnsafeRawPointer, _ right: UnsafeRawPointer, count: Int
    ) -> Bool {
        unsafe memcmp(left, right, count) == 0
    }

    /// Below, equal or above 0 as the first `count` bytes of `left` stand to those of `right`.
    static func order(
        _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, count: Int
    ) -> Int32 {
        guard count > 0, let first = left.baseAddress, let second = right.baseAddress else {
            return 0
        }
        return unsafe memcmp(first, second, count)
    }
}

// MARK: - Threads

extension Platform {
    /// The kernel's id of the running thread; right everywhere, also around an await.
    static var threadID: UInt64 { tidemark_thread_id() }

    /// A cheap identity of the running thread, for synchronous code only: an optimised build may
    /// ask once per function and keep the answer.
    static var threadMark: UInt {
        #if canImport(Glibc)
            UInt(pthread_self())
        #else
            unsafe UInt(bitPattern: pthread_self())
        #endif
    }

    /// Starts a detached thread with a stack of 8 MiB; `name` has at most 15 bytes.
    static func startThread(
        named name: String, _ body: @escaping @Sendable () -> Void
    ) throws(SystemNumber) {
        let passed = unsafe Unmanaged.passRetained(ThreadBody(name, body))
        let code = unsafe createThread(passed.toOpaque())
        if code != 0 {
            unsafe passed.release()
            throw SystemNumber(number: code)
        }
    }

    private static func createThread(_ argument: UnsafeMutableRawPointer) -> Int32 {
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        unsafe pthread_attr_setstacksize(&attributes, 8 << 20)
        #if canImport(Glibc)
            var thread = pthread_t()
        #else
            var thread: pthread_t?
        #endif
        return unsafe pthread_create(&thread, &attributes, runThread, argument)
    }
}

private final class ThreadBody: Sendable {
    let name: String
    let run: @Sendable () -> Void

    init(_ name: String, _ run: @escaping @Sendable () -> Void) {
        self.name = name
        self.run = run
    }
}

#if canImport(Glibc)
    private typealias ThreadArgument = UnsafeMutableRawPointer?
#else
    private typealias ThreadArgument = UnsafeMutableRawPointer
#endif

private func runThread(_ argument: ThreadArgument) -> UnsafeMutableRawPointer? {
    let passed: UnsafeMutableRawPointer? = unsafe argument
    guard let passed = unsafe passed else { return nil }
    let body = unsafe Unmanaged<ThreadBody>.fromOpaque(passed).takeRetainedValue()
    unsafe tidemark_name_thread(body.name)
    body.run()
    return nil
}

/// A mutex and its condition, at a fixed address.
@safe struct PlatformLock: ~Copyable, @unchecked Sendable {
    // @unchecked because: pthread mutexes and conditions are made to be used from many threads.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(mutex, nil)
        unsafe condition = .allocate(capacity: 1)
        unsafe condition.initialize(to: pthread_cond_t())
        unsafe pthread_cond_init(condition, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe condition.deallocate()
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    borrowing func lock() { unsafe pthread_mutex_lock(mutex) }
    borrowing func unlock() { unsafe pthread_mutex_unlock(mutex) }
    borrowing func wait() { unsafe pthread_cond_wait(condition, mutex) }
    borrowing func wakeAll() { unsafe pthread_cond_broadcast(condition) }
}
