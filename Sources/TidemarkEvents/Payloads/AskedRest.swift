// AskedRest.swift — how the log has it that a server asks for no call that is not needed.

/// What a server asks of everybody: for so many seconds no call that is not needed.
///
/// Servers say it in header fields of several names; which one it is an adapter says. The log has
/// it under one name, in `request.answered` and in `sync.finished`, and the next run waits for it.
package enum AskedRest {
    /// The member that holds it, as the server wrote it.
    ///
    /// A word of ours, whatever the server's field is called: logs have it, so it stays.
    package static let member = "Backoff"

    /// The longest time that is honoured.
    package static let secondsMax: Int64 = 24 * 60 * 60

    /// The seconds, from 0 to ``secondsMax``; nil when the text means nothing.
    package static func seconds(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text).map { min($0, secondsMax) } ?? secondsMax
    }
}
