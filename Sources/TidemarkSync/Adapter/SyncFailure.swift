// SyncFailure.swift — the reasons why a sync run failed, or left something undone.

public import TidemarkEvents
import TidemarkRules
import TidemarkViews

/// Why a call, or a whole sync run, failed.
@nonexhaustive public enum SyncFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The server can't be reached.
    case offline(String)
    /// The server did not answer in time, or the connection broke: what was sent may have arrived.
    case timeout(String)
    /// The server failed: a status from 500 to 599.
    case server(status: Int, retryAfterSeconds: Int64?)
    /// The server asks for a pause: 429, or a pause that it asked for earlier and that is not over.
    case tooManyRequests(retryAfterSeconds: Int64?)
    /// The server refuses the call itself, not an entity.
    case client(status: Int, String)
    /// The credentials are missing or not accepted.
    case unauthorized
    /// The credentials don't allow this collection.
    case forbidden
    /// The server no longer speaks this API.
    case apiDeprecated
    /// The server no longer speaks to this version of the app.
    case clientDeprecated
    /// The server sent something that is not valid in its protocol.
    case malformed(String)
    /// The server answers, but a block of a feed is not what was asked for: the list does not get
    /// on.
    case noProgress(String)
    /// Earlier runs failed, and the backoff is not over; nothing was asked.
    case backoff(seconds: Int64)
    /// The run's deadline passed; what was not done waits for the next run.
    case deadline
    /// Something else answered in the server's place, as a network's sign-in page does.
    case foreign(String)
    /// The conflict rule of that name, which a collection names, was not passed when the replica
    /// was opened.
    case ruleMissing(String)
    /// The app's rule of that name threw an error, or returned something that can't be a document.
    case ruleFailed(String, String)
    /// An entity that the model requires is missing; the model's name for that.
    case missing(String)
    /// There is no room on the disk for a file that came; all else goes on.
    case diskFull(String)
    /// The task was cancelled.
    case cancelled
    /// The gate of the app's trigger has no room before that time of the device's clock; nothing
    /// was asked, and nothing was logged: ``SyncSettings/gates``.
    case gated(until: Timestamp)

    /// The failure's name in logs and tools.
    public var name: String { kind.rawValue }

    /// The kind of failure, without its details.
    package var kind: FailureKind {
        switch self {
        case .offline: .offline
        case .timeout: .timeout
        case .server: .server
        case .tooManyRequests: .tooManyRequests
        case .client: .client
        case .unauthorized: .unauthorized
        case .forbidden: .forbidden
        case .apiDeprecated: .apiDeprecated
        case .clientDeprecated: .clientDeprecated
        case .malformed: .malformed
        case .noProgress: .noProgress
        case .backoff: .backoff
        case .deadline: .deadline
        case .foreign: .foreign
        case .ruleMissing: .ruleMissing
        case .ruleFailed: .ruleFailed
        case .missing: .missing
        case .diskFull: .diskFull
        case .cancelled: .cancelled
        case .gated: .gated
        }
    }

    /// One line for a person: what is wrong, and what to do where something can be done.
    public var description: String {
        switch self {
        case .offline(let detail): "the server can't be reached" + detail.asDetail
        case .timeout(let detail): "no answer came from the server" + detail.asDetail
        case .server(let status, let seconds): "the server failed with \(status)" + seconds.asWait
        case .tooManyRequests(let seconds): "the server asks for a pause" + seconds.asWait
        case .client(let status, let detail):
            "the server refused the call with \(status)" + detail.asDetail
        case .unauthorized: "the server does not accept the credentials; check them and sync again"
        case .forbidden: "the credentials do not allow this; ask for access and sync again"
        case .apiDeprecated: "the server no longer speaks this API; update the app"
        case .clientDeprecated:
            "the server no longer speaks to this version of the app; update the app"
        case .malformed(let detail): "the server's answer can't be understood" + detail.asDetail
        case .noProgress(let detail): "the list does not get on" + detail.asDetail
        case .backoff(let seconds):
            "earlier runs failed; the next one begins in \(seconds) s, or when the user asks for it"
        case .deadline: "the time for this run is over; sync again to go on"
        case .foreign(let detail):
            "something else answered in the server's place, a sign-in page of the network perhaps"
                + detail.asDetail
        case .ruleMissing(let name):
            "both sides changed an entity, and the app's rule \"\(name)\" that is to decide is not "
                + "known here; sync with the app, which opens the replica with it"
        case .ruleFailed(let name, let detail):
            "both sides changed an entity, and the app's rule \"\(name)\" failed to decide"
                + detail.asDetail + "; nothing is lost, mend the rule and sync again"
        case .missing(let name):
            "the server has not what has to be there: \(name); nothing else is wrong"
        case .diskFull(let detail):
            "the disk is full, so no file is fetched; free some space, and the next run goes on"
                + detail.asDetail
        case .cancelled: "cancelled"
        case .gated(let until):
            "it was asked for often enough; the next run of this trigger begins after "
                + "\(until.toTheSecond), or when the user asks for it"
        }
    }

    /// Whether it would fail every other call of the run, too; otherwise it concerns this call, and
    /// the run goes on.
    package var stopsRun: Bool {
        switch self {
        case .forbidden, .client, .malformed, .noProgress, .timeout, .foreign, .ruleMissing,
            .ruleFailed, .diskFull:
            false
        case .server(_, let retryAfterSeconds): retryAfterSeconds != nil
        case .offline, .tooManyRequests, .unauthorized, .apiDeprecated, .clientDeprecated,
            .backoff, .deadline, .missing, .cancelled, .gated:
            true
        }
    }

    /// Whether it ends a run wherever that is, so that the next one goes on there.
    var cutsOff: Bool { if case .missing = self { false } else { stopsRun } }

    /// Whether the server, or a machine in between, failed instead of answering.
    var isServers: Bool {
        switch self {
        case .timeout, .server, .foreign, .malformed: true
        case .offline, .tooManyRequests, .client, .unauthorized, .forbidden, .apiDeprecated,
            .clientDeprecated, .noProgress, .backoff, .deadline, .ruleMissing, .ruleFailed,
            .missing, .diskFull, .cancelled, .gated:
            false
        }
    }

    /// Whether what came is not valid in the server's protocol.
    var isMalformed: Bool { if case .malformed = self { true } else { false } }

    /// Whether something else answered in the server's place.
    var isForeign: Bool { if case .foreign = self { true } else { false } }

    /// Whether the server says that what was asked for is not there, or not for this user.
    var isRefusal: Bool {
        switch self {
        case .forbidden: true
        case .client(let status, _): FailingRow.isRefusal(status)
        default: false
        }
    }

    /// Whether the server refused the request as a whole, without doing any of it.
    var isOfRequest: Bool {
        guard case .client(let status, _) = self else { return false }
        return status == 0 || (400..<500).contains(status)
    }

    /// Whether a later try may succeed.
    public var isTransient: Bool {
        switch self {
        case .offline, .timeout, .server, .tooManyRequests, .foreign, .backoff, .deadline,
            .diskFull, .gated:
            true
        case .client, .unauthorized, .forbidden, .apiDeprecated, .clientDeprecated, .malformed,
            .noProgress, .ruleMissing, .ruleFailed, .missing, .cancelled:
            false
        }
    }

    /// The details, without what they mean for the run.
    package var detail: String {
        switch self {
        case .offline(let detail), .timeout(let detail), .client(_, let detail),
            .malformed(let detail), .noProgress(let detail), .foreign(let detail),
            .missing(let detail), .diskFull(let detail):
            detail
        default: description
        }
    }

    /// How long the server asked to wait, if it did.
    public var retryAfterSeconds: Int64? {
        switch self {
        case .server(_, let seconds), .tooManyRequests(let seconds): seconds
        case .backoff(let seconds): seconds
        default: nil
        }
    }

    /// The same, as it is kept: at most ``RetryAfter/secondsMax``.
    var secondsToWait: Int64? {
        retryAfterSeconds.map { min(max($0, 0), RetryAfter.secondsMax) }
    }
}

extension SyncFailure {
    /// The failure of a run that is held back by a gate.
    init(_ hold: SyncGates.Hold) {
        switch hold {
        case .frozen(.apiDeprecated): self = .apiDeprecated
        case .frozen(.clientDeprecated): self = .clientDeprecated
        case .frozen: self = .unauthorized
        case .wait(let microseconds, let reason):
            let seconds = microseconds.inWholeSeconds
            if case .failures = reason {
                self = .backoff(seconds: seconds)
            } else {
                self = .tooManyRequests(retryAfterSeconds: seconds)
            }
        }
    }

    /// The failure that a transport's error means.
    package init(_ error: TransportError) {
        switch error.code {
        case .offline: self = .offline(error.detail)
        case .timeout, .connectionLost: self = .timeout(error.detail)
        case .redirectRefused: self = .foreign("a redirect that is not followed: \(error.detail)")
        case .tooLarge:
            self = .malformed(
                "an answer that is too large; of a list, let the model's pageSize be smaller")
        case .cancelled: self = .cancelled
        case .invalidRequest, .file: self = .client(status: 0, error.detail)
        case .diskFull: self = .diskFull(error.detail)
        }
    }
}

extension SyncFailure {
    /// The failure of a run that was stopped from outside; nil for every other failure.
    package init?(interruption kind: FailureKind?) {
        switch kind {
        case .cancelled: self = .cancelled
        case .deadline: self = .deadline
        case .offline, .timeout, .server, .tooManyRequests, .client, .unauthorized, .forbidden,
            .apiDeprecated, .clientDeprecated, .malformed, .noProgress, .backoff, .foreign,
            .ruleMissing, .ruleFailed, .missing, .diskFull, .gated, nil:
            return nil
        }
    }

    /// A failure of the credentials provider, read from what the log says of it; nil for
    /// every other failure.
    ///
    /// - Parameter sentence: the failure's ``description``.
    package init?(ofCredentials kind: FailureKind?, said sentence: String) {
        switch kind {
        case .offline: self.init(SyncFailure.offline, said: sentence)
        case .timeout: self.init(SyncFailure.timeout, said: sentence)
        case .foreign: self.init(SyncFailure.foreign, said: sentence)
        case .malformed: self.init(SyncFailure.malformed, said: sentence)
        case .diskFull: self.init(SyncFailure.diskFull, said: sentence)
        case .noProgress: self.init(SyncFailure.noProgress, said: sentence)
        case .missing: self.init(SyncFailure.missing, said: sentence)
        case .client:
            let status = sentence.number(after: " with ").map { Int(clamping: $0) } ?? 0
            self.init({ SyncFailure.client(status: status, $0) }, said: sentence)
        case .server:
            self = .server(
                status: sentence.number(after: " with ").map { Int(clamping: $0) } ?? 0,
                retryAfterSeconds: sentence.number(after: " again in "))
        case .tooManyRequests:
            self = .tooManyRequests(retryAfterSeconds: sentence.number(after: " again in "))
        case .unauthorized: self = .unauthorized
        case .forbidden: self = .forbidden
        case .apiDeprecated: self = .apiDeprecated
        case .clientDeprecated: self = .clientDeprecated
        case .backoff, .deadline, .ruleMissing, .ruleFailed, .cancelled, .gated, nil: return nil
        }
    }

    /// The failure with this description, of which the detail is read.
    private init(_ make: (String) -> SyncFailure, said sentence: String) {
        let mark: Character = "\0"
        let around = "\(make(String(mark)))".split(
            separator: mark, omittingEmptySubsequences: false)
        guard let before = around.first, let behind = around.last, sentence.hasPrefix(before),
            sentence.hasSuffix(behind), sentence.count >= before.count + behind.count
        else {
            self = make("")
            return
        }
        self = make(String(sentence.dropFirst(before.count).dropLast(behind.count)))
    }
}

extension String {
    fileprivate var asDetail: String { isEmpty ? "" : " (\(self))" }

    /// The whole number behind some words; nil where they are not there, or there is none.
    fileprivate func number(after words: String) -> Int64? {
        guard let place = firstRange(of: words) else { return nil }
        return Int64(self[place.upperBound...].prefix { $0 == "-" || $0.isNumber })
    }
}

extension Int64? {
    fileprivate var asWait: String { map { "; try again in \($0) s" } ?? "" }
}
