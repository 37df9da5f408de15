// Replica+Capsule.swift — exports the part of the log that a bug report needs, as one file.

public import TidemarkCapsule
import TidemarkStore
package import TidemarkViews

extension Replica {
    /// How many of the last events a capsule has by default.
    public static let capsuleEvents = 100_000

    /// A capsule of the last events: the contents of a file that replays a bug.
    ///
    /// It is a snapshot of one moment; writers are not held up. It holds the model, the rows before
    /// the first of its events, the events with their payloads as they came, and what was made of
    /// each commit. The server's address, the account and the device are left out unless
    /// they are asked for. It is compressed, and `tidemark capsule FILE` tells what is in it.
    ///
    /// - Parameters:
    ///   - last: how many of the last events it has at least, if there are as many; from 1 up. A
    ///     commit is never cut.
    ///   - note: a text for the recipient; up to 64 KiB, line breaks allowed. Other control
    ///     characters become spaces.
    ///   - namesRemote: whether the server's address, the account and the device stay in it. Where
    ///     anything else in it holds the server's name, cursors and answers keep it in any case.
    ///   - contents: whether the bytes of the files that entities name are in it, as far as they
    ///     are here and have room, 60 MiB together; never of a redacted one.
    ///   - redaction: how the data of users is replaced; nil to keep it, readable for whoever gets
    ///     the capsule.
    /// - Throws: ``TidemarkError``: `tooLarge` where it would exceed the limit for reading one (256
    ///   MiB before compression): fewer events help, but where the rows before them alone are
    ///   too many, as the message says then, only if much was deleted or wiped since; `damaged`
    ///   where the log can't be read. With a redaction ``RedactionError``: `policy` where it keeps
    ///   what is no field, `unknown` where this version does not know which parts are secrets,
    ///   `decision` where a decision would come out differently without the data of users, and
    ///   `otherRules` where other rules made what the capsule begins with.
    /// - Precondition: `last` is 1 or more.
    @available(*, noasync, message: "it blocks; `await` it, in top-level code within a function")
    public func capsule(
        last: Int = capsuleEvents, note: String = "", namesRemote: Bool = false,
        contents: Bool = false, redaction: Redaction?
    ) throws -> [UInt8] {
        try TidemarkError.mapped {
            var capsule = try journal.capsule(last: last, note: note, namesRemote: namesRemote)
            guard let redaction else {
                if contents { _ = try capsule.takeContents(from: directory) }
                return try capsule.encoded
            }
            var redacted = try capsule.redacted(redaction, random: dependencies.random)
            redacted.provenance.note = Capsule.note(note)
            return try redacted.encoded
        }
    }

    /// The same without blocking the caller's thread.
    public func capsule(
        last: Int = capsuleEvents, note: String = "", namesRemote: Bool = false,
        contents: Bool = false, redaction: Redaction?
    ) async throws -> [UInt8] {
        try await BlockingWork.run { [self] in
            try capsule(
                last: last, note: note, namesRemote: namesRemote, contents: contents,
                redaction: redaction)
        }
    }

    /// Writes a `capsule(last:note:namesRemote:contents:redaction:)` to a file, replacing an
    /// existing one.
    ///
    /// The file is written completely or not at all; only its owner may read it.
    ///
    /// - Parameters:
    ///   - path: the file; its folder must exist.
    ///   - last: how many of the last events it has at least, if there are as many.
    ///   - note: a text for the recipient.
    ///   - namesRemote: whether the server's address, the account and the device stay in it, as
    ///     for `capsule(last:note:namesRemote:contents:redaction:)`.
    ///   - contents: whether the bytes of the files that entities name are in it.
    ///   - redaction: how the data of users is replaced; nil to keep it.
    /// - Throws: as `capsule(last:note:namesRemote:contents:redaction:)`, and ``TidemarkError``
    ///   where the file can't be written: `invalidPath` without its folder.
    /// - Precondition: `last` is 1 or more.
    @available(*, noasync, message: "it blocks; `await` it, in top-level code within a function")
    public func writeCapsule(
        to path: String, last: Int = capsuleEvents, note: String = "", namesRemote: Bool = false,
        contents: Bool = false, redaction: Redaction?
    ) throws {
        let bytes = try capsule(
            last: last, note: note, namesRemote: namesRemote, contents: contents,
            redaction: redaction)
        try TidemarkError.mapped { try Capsule.write(bytes, to: path) }
    }

    /// The same without blocking the caller's thread.
    public func writeCapsule(
        to path: String, last: Int = capsuleEvents, note: String = "", namesRemote: Bool = false,
        contents: Bool = false, redaction: Redaction?
    ) async throws {
        try await BlockingWork.run { [self] in
            try writeCapsule(
                to: path, last: last, note: note, namesRemote: namesRemote, contents: contents,
                redaction: redaction)
        }
    }
}

extension Journal {
    /// A capsule of the last events; the views before them are folded in a temporary directory.
    package func capsule(
        last: Int, note: String, namesRemote: Bool,
        progress: (RebuildProgress) throws -> Void = { _ in }
    ) throws -> Capsule {
        precondition(last > 0, "a capsule has at least one event")
        var capsule = try ScratchDirectory.with(nil) { scratch in
            try Capsule(
                of: self, last: UInt64(last), build: Replica.version, scratch: scratch,
                progress: progress)
        }
        capsule.provenance.note = Capsule.note(note)
        return namesRemote ? capsule : capsule.withoutRemote()
    }
}
