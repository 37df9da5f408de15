// SendingFiles.swift — the files of the user's that are being sent, and how much of each was handed
// to the network: for whoever shows it. Nothing of it is logged.

import TidemarkStore

/// The files that are being sent by one engine.
package final class SendingFiles: Sendable {
    /// One of them.
    package struct File: Sendable, Hashable {
        package var digest: String
        /// How many bytes were handed to the network; fewer again where it is sent anew.
        package var sent: Int
        package var bytes: Int
        fileprivate var watch: SendingWatch
    }

    /// The shortest file that is told of.
    private static let bytesMin = 256 << 10
    /// In how many steps it is told how far a file is.
    private static let steps = 100

    private let files = Lock<[File]>([])
    private let tell: @Sendable ([File]) -> Void

    /// - Parameter tell: is told of all of them, in the order in which they began.
    package init(tell: @escaping @Sendable ([File]) -> Void = { _ in }) { self.tell = tell }

    /// Begins to send a file; nil for a short one, of which nothing is told.
    func begin(_ digest: String, bytes: Int) -> SendingWatch? {
        guard bytes >= Self.bytesMin else { return nil }
        let watch = SendingWatch(self)
        files.withLock { files in
            files.append(File(digest: digest, sent: 0, bytes: bytes, watch: watch))
            tell(files)
        }
        return watch
    }

    func end(_ watch: SendingWatch?) {
        files.withLock { files in
            guard let place = files.firstIndex(where: { $0.watch == watch }) else { return }
            files.remove(at: place)
            tell(files)
        }
    }

    fileprivate func note(_ sent: Int, _ watch: SendingWatch) {
        files.withLock { files in
            guard let place = files.firstIndex(where: { $0.watch == watch }) else { return }
            let (before, bytes) = (files[place].sent, files[place].bytes)
            let sent = min(sent, bytes)
            let isNews = sent < before || sent == bytes || sent - before >= bytes / Self.steps
            guard isNews, sent != before else { return }
            files[place].sent = sent
            tell(files)
        }
    }
}

/// Is told how much of one file was read to be sent.
package final class SendingWatch: Sendable, Hashable {
    private let files: SendingFiles

    fileprivate init(_ files: SendingFiles) { self.files = files }

    func note(_ sent: Int) { files.note(sent, self) }

    package static func == (left: SendingWatch, right: SendingWatch) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
