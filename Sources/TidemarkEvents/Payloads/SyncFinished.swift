// SyncFinished.swift — how a sync run ended, and what it did.

/// `sync.finished`.
package struct SyncFinished: MemberPayload {
    /// How it ended; nil where the payload does not say.
    package var outcome: RunOutcome?
    /// Why, in a sentence, where it ended early.
    package var detail: String?
    /// How many requests were sent, entities pulled and pushed, and so on.
    package var requests: Int64 = 0
    package var pulled: Int64 = 0
    package var pushed: Int64 = 0
    package var conflicts: Int64 = 0
    package var rejected: Int64 = 0
    package var readBack: Int64 = 0
    /// How many mutations wait, how many are refused, and of how many the outcome is not known.
    package var pending: Int64 = 0
    package var refused: Int64 = 0
    package var unsettled: Int64 = 0
    /// How many entities are held, as whole lists did not name them.
    package var held: Int64 = 0
    /// Whether the server's time is in doubt.
    package var isTimeInDoubt = false
    /// Why collections were not done, by their names.
    package var paused: [Named<FailureName>] = []
    /// The collections whose lists were restarted from the beginning.
    package var restarted: [String] = []
    /// The collections that were listed to their end, of those that are not listed in every run.
    package var listed: [String] = []
    /// Where a run of everything was cut off, unless the next one begins as any other: a
    /// collection, and the scope of a part of it; without any after all lists.
    package var cutAt: [String]?
    /// What a run without any other event says of its beginning; empty in others.
    package var run = RunStart()
    /// In a run without any other event, what the server's clock showed, as HTTP writes it.
    package var date: String?
    /// Microseconds since the device's boot, when that was read.
    package var answerUptime: Int64?
    /// When requests were sent that are not logged by themselves.
    package var requestTimes: [Timestamp] = []
    /// The parts of the ``RequestGroup`` of each of them, where the model limits that; empty
    /// where all of them are.
    package var requestGroups: [[String]] = []
    /// For how many seconds the server asked for no call that is not needed, as it wrote it.
    package var backoff: String?
    /// Microseconds since the boot, at the end.
    package var uptime: Int64?
    /// Answers that no other event tells of, as long as they are kept.
    package var kept = KeptName()

    package init() {}

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("outcome", \.outcome, .outcome, .plain),
        PayloadMember("detail", \.detail, .text, .detail),
        PayloadMember("requests", \.requests, .integer, .plain) { $0 <= 0 },
        PayloadMember("pulled", \.pulled, .integer, .plain) { $0 <= 0 },
        PayloadMember("pushed", \.pushed, .integer, .plain) { $0 <= 0 },
        PayloadMember("conflicts", \.conflicts, .integer, .plain) { $0 <= 0 },
        PayloadMember("rejected", \.rejected, .integer, .plain) { $0 <= 0 },
        PayloadMember("readBack", \.readBack, .integer, .plain) { $0 <= 0 },
        PayloadMember("pending", \.pending, .integer, .plain) { $0 <= 0 },
        PayloadMember("refused", \.refused, .integer, .plain) { $0 <= 0 },
        PayloadMember("unsettled", \.unsettled, .integer, .plain) { $0 <= 0 },
        PayloadMember("held", \.held, .integer, .plain) { $0 <= 0 },
        PayloadMember("timeInDoubt", \.isTimeInDoubt, .flag, .plain) { !$0 },
        PayloadMember(prefix: "paused ", \.paused, .word, .plain),
        PayloadMember("restarted", \.restarted, .list(of: .text), .text) { $0.isEmpty },
        PayloadMember("listed", \.listed, .list(of: .text), .text) { $0.isEmpty },
        PayloadMember("cutAt", \.cutAt, .list(of: .text), .listScope),
        PayloadMember(of: \.run),
        PayloadMember("Date", \.date, .text, .httpDate),
        PayloadMember("answerUptime", \.answerUptime, .integer, .plain),
        PayloadMember("requestTimes", \.requestTimes, .list(of: .time), .time) { $0.isEmpty },
        PayloadMember(
            "requestGroups", \.requestGroups, .list(of: .list(of: .text)), .text
        ) { $0.allSatisfy(\.isEmpty) },
        PayloadMember(AskedRest.member, \.backoff, .text, .plain),
        PayloadMember("endUptime", \.uptime, .integer, .plain),
        PayloadMember(of: \.kept),
    ]

    package var gist: String? { [outcome?.word, detail].compactMap(\.self).joined(separator: " ") }

    /// What the server's clock showed.
    package var serverTime: Timestamp? { date.flatMap(HTTPDate.parse) }

    /// For how many seconds the server asked for no call that is not needed.
    package var backoffSeconds: Int64? { backoff.flatMap(AskedRest.seconds) }
}

/// How a run ended.
package enum RunOutcome: Sendable, Hashable {
    /// All that was to be done was done.
    case synced
    /// Something was missed, and why stands elsewhere.
    case incomplete
    /// It ended early.
    case failed(FailureName)

    /// The word for it.
    package var word: String {
        switch self {
        case .synced: "synced"
        case .incomplete: "incomplete"
        case .failed(let name): name.rawValue
        }
    }
}

extension PayloadCodec<RunOutcome> {
    fileprivate static var outcome: Self {
        PayloadCodec(
            "a word of ours",
            {
                switch $0 {
                case "synced": .synced
                case "incomplete": .incomplete
                case .string(let text): .failed(FailureName(rawValue: text))
                default: nil
                }
            },
            append: { JSON.appendString($0.word, to: &$1) })
    }
}

extension SyncFinished: EventPayload {}
