// SchedulePayloads.swift — what the fold reads of the payloads of sync runs. Lenient: a member that
// is missing or of another type is as if it were not there.

package import TidemarkEvents

/// `sync.started`, or the `sync.finished` of a run that has no other event.
struct RunStartPayload {
    var begunAt: Timestamp?
    var bootID: String?
    /// Microseconds since the boot, when the run began.
    var uptime: Int64?
    var seed: UInt64?
    /// What the run was to do.
    var scope = SyncScope.all
    /// Whether every collection was to be listed whole.
    var isFull = false

    init(_ payload: [UInt8]) {
        guard let document = try? JSONDocument(parsing: payload) else { return }
        begunAt = document.value("begunAt")?.int64Value.map { Timestamp(rawValue: $0) }
        uptime = document.value("uptime")?.int64Value
        bootID = document.value("bootID")?.stringValue
        scope = SyncScope(document.value("scope"))
        isFull = document.value("full") == .bool(true)
        seed = document.value("seed")?.stringValue.flatMap { UInt64($0) }
    }
}

/// `sync.finished`: `{"outcome":…,"requests":…,"endUptime":…,"Backoff":…}`.
struct RunEndPayload {
    /// What it means for the next run.
    enum Effect {
        case none, clears, freezes, backsOff
    }

    var outcome = ""
    var effect = Effect.none
    /// Microseconds since the boot, at its end.
    var uptime: Int64?
    /// Of a run that has no other event: what the server's clock showed, and the uptime then.
    var date: Timestamp?
    var answerUptime: Int64?
    /// Seconds for which the server asked for no call that is not needed.
    var backoff: Int64?
    /// Whether anything was sent.
    var wasSent = false
    /// When requests were sent that are not logged by themselves.
    var requestTimes: [Timestamp] = []

    init(_ payload: [UInt8]) {
        guard let document = try? JSONDocument(parsing: payload) else { return }
        outcome = document.value("outcome")?.stringValue ?? ""
        uptime = document.value("endUptime")?.int64Value
        date = document.value("Date")?.stringValue.flatMap(HTTPDate.parse)
        answerUptime = document.value("answerUptime")?.int64Value
        requestTimes = (document.value("requestTimes")?.array ?? []).compactMap(\.int64Value)
            .map { Timestamp(rawValue: $0) }
        backoff = document.value("Backoff")?.stringValue.flatMap(BackoffField.seconds)
        wasSent = (document.value("requests")?.int64Value ?? 0) > 0
        switch outcome {
        // Of one that missed something, every list was answered.
        case "synced", "incomplete", "missing": effect = .clears
        case "unauthorized", "apiDeprecated", "clientDeprecated": effect = .freezes
        // A run that sent nothing was only told to wait.
        case "offline", "timeout", "server", "tooManyRequests", "foreign":
            effect = wasSent ? .backsOff : .none
        default: effect = .none
        }
    }
}

/// The header field Backoff of Kinto's protocol: seconds.
enum BackoffField {
    /// The longest time that is honoured.
    static let secondsMax: Int64 = 24 * 60 * 60

    /// The seconds, from 0 to ``secondsMax``; nil when the text means nothing.
    static func seconds(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text).map { min($0, secondsMax) } ?? secondsMax
    }
}

extension SyncScope {
    /// Whether a run of this scope lists a collection.
    func lists(_ collection: CollectionName) -> Bool {
        switch self {
        case .all: true
        case .pull(let names): names.contains(collection)
        case .push, .cleanUp: false
        }
    }
}

extension SyncRunRow {
    /// What the run was to do.
    package var scope: SyncScope { RunStartPayload(started.isEmpty ? summary : started).scope }
}
