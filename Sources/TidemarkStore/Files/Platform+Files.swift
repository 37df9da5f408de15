// Platform+Files.swift — the libc calls behind locks, small files and waiting; see Platform.swift.

import CLMDB

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension Platform {
    static let wouldBlock = EWOULDBLOCK

    /// The running process.
    static var processID: Int32 { getpid() }

    /// Whether a process of that number runs now.
    static func isRunning(_ process: Int32) -> Bool {
        process > 0 && (kill(process, 0) == 0 || errno != ESRCH)
    }

    // MARK: Waiting

    /// Nanoseconds by a clock that nobody sets.
    static var monotonicNanoseconds: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    /// Blocks the thread for about so long.
    static func pause(nanoseconds: Int) {
        var time = timespec(tv_sec: 0, tv_nsec: nanoseconds)
        unsafe nanosleep(&time, nil)
    }

    // MARK: Directories

    /// The folder that relative paths begin in; nil where it can't be told.
    static var currentFolder: String? {
        guard let path = unsafe getcwd(nil, 0) else { return nil }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }

    static func openDirectory(_ path: String) throws(SystemNumber) -> Int32 {
        try open(path, O_RDONLY | O_DIRECTORY)
    }

    /// Takes the lock of an open file or directory, which ends with its last descriptor.
    ///
    /// - Returns: false when another opening of it holds the lock.
    static func tryLock(_ descriptor: Int32) throws(SystemNumber) -> Bool {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == wouldBlock { return false }
            guard errno == EINTR else { throw SystemNumber(number: errno) }
        }
        return true
    }

    /// What kind of file system a path is on, by the number that Linux gives it.
    static func fileSystemType(_ path: String) -> UInt64? {
        UInt64(exactly: unsafe tidemark_file_system_type(path))
    }

    // MARK: Small files

    /// Makes a file of its own, 0600, that must not be there yet.
    static func createFile(_ path: String) throws(SystemNumber) -> Int32 {
        try open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
    }

    /// Opens a file of the user's, also by a link.
    static func openFollowing(_ path: String) throws(SystemNumber) -> Int32 {
        try open(path, O_RDONLY)
    }

    /// Opens a file that is there for writing.
    static func openForWriting(_ path: String) throws(SystemNumber) -> Int32 {
        try open(path, O_RDWR | O_NOFOLLOW)
    }

    /// Takes away what an open file has at a place and after it.
    static func cut(_ descriptor: Int32, at offset: Int) throws(SystemNumber) {
        guard ftruncate(descriptor, off_t(offset)) == 0 else { throw SystemNumber(number: errno) }
    }

    /// Lets an empty file share the blocks of another one; false where the file system can't.
    static func clone(_ source: Int32, to target: Int32) -> Bool {
        tidemark_clone(source, target) == 0
    }

    /// Lets the owner read an open file, and nobody do anything else.
    static func makeReadOnly(_ descriptor: Int32) throws(SystemNumber) {
        guard fchmod(descriptor, 0o400) == 0 else { throw SystemNumber(number: errno) }
    }

    /// What is in a directory, in the order of the names' bytes.
    static func names(in directory: String) throws(SystemNumber) -> [String] {
        guard let stream = unsafe opendir(directory) else { throw SystemNumber(number: errno) }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = unsafe readdir(stream) else {
                guard errno == 0 else { throw SystemNumber(number: errno) }
                return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            }
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { text in
                    unsafe String(cString: text)
                }
            }
            if name != ".", name != ".." { names.append(name) }
        }
    }

    /// Gives a file that many bytes on the disk, making it (0600) when it isn't there.
    ///
    /// A page of a mapped file that has none kills the process when the disk is full.
    static func reserve(_ path: String, bytes: Int) throws(SystemNumber) {
        let descriptor = try open(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
        defer { close(descriptor) }
        let number = tidemark_reserve(descriptor, bytes)
        guard number == 0 else { throw SystemNumber(number: number) }
    }

    static func write(
        _ bytes: [UInt8], to descriptor: Int32, at offset: Int = 0
    ) throws(SystemNumber) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe pwrite(
                    descriptor, buffer.baseAddress.map { unsafe $0 + written },
                    bytes.count - written, off_t(offset + written))
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SystemNumber(number: errno) }
            written += count
        }
    }

    /// Makes what was written to a file durable.
    static func sync(_ descriptor: Int32) throws(SystemNumber) {
        let number = flush(
            fully: { flushDrive(descriptor) }, plainly: { fsync(descriptor) == 0 ? 0 : errno })
        guard number == 0 else { throw SystemNumber(number: number) }
    }

    /// Flushes a file, and the drive's own memory where the file system can have that done.
    ///
    /// - Returns: 0, or the errno of the flush that counts.
    static func flush(fully: () -> Int32, plainly: () -> Int32) -> Int32 {
        let number = fully()
        return [ENOTSUP, EINVAL, ENOTTY].contains(number) ? plainly() : number
    }

    /// Has the drive write what it has in its memory, which fsync does not on Darwin; answers an
    /// errno, on Linux that there is nothing beyond fsync.
    private static func flushDrive(_ descriptor: Int32) -> Int32 {
        #if canImport(Darwin)
            return fcntl(descriptor, F_FULLFSYNC) == -1 ? errno : 0
        #else
            return ENOTSUP
        #endif
    }

    /// Lets a part of a file begin to go to the disk, where the system can do so; it is durable
    /// only after ``sync(_:)``.
    static func beginFlush(_ descriptor: Int32, at offset: Int, count: Int) {
        tidemark_begin_flush(descriptor, Int64(offset), Int64(count))
    }

    static func rename(_ path: String, to target: String) throws(SystemNumber) {
        #if canImport(Glibc)
            let code = unsafe Glibc.rename(path, target)
        #else
            let code = unsafe Darwin.rename(path, target)
        #endif
        guard code == 0 else { throw SystemNumber(number: errno) }
    }

    /// Removes a file; nothing when it isn't there.
    static func remove(_ path: String) throws(SystemNumber) {
        guard unsafe unlink(path) == 0 || errno == noEntry else {
            throw SystemNumber(number: errno)
        }
    }

    /// Removes an empty directory.
    static func removeDirectory(_ path: String) throws(SystemNumber) {
        guard unsafe rmdir(path) == 0 else { throw SystemNumber(number: errno) }
    }

    /// Takes every right from everybody but the owner, who may read and write.
    ///
    /// By its path: closing a descriptor of a file drops this process's locks on it.
    static func makePrivate(_ path: String) throws(SystemNumber) {
        guard unsafe chmod(path, 0o600) == 0 else { throw SystemNumber(number: errno) }
    }
}
