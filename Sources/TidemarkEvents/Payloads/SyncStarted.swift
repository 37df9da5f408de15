// SyncStarted.swift — why a sync run began, what it is to do, and when.

/// What is known when a run begins: part of `sync.started`, or of the only event of a run without
/// news.
package struct RunStart: MemberPayload {
    /// Why it began; the first is the one of highest priority.
    package var triggers: [SyncTrigger] = []
    /// What it is to do.
    package var scope = SyncScope.all
    /// How it is to pull.
    package var mode = PullMode.changes
    /// When, by the device's clock.
    package var begunAt: Timestamp?
    /// The device's boot.
    package var bootID: String?
    /// Microseconds since that boot.
    package var uptime: Int64?

    package init() {}

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("trigger", \.trigger, .text, .plain),
        PayloadMember("triggers", \.otherTriggers, .list(of: .text), .plain),
        PayloadMember("scope", \.scope, .scope, .scope) { $0 == .all },
        PayloadMember("full", \.isFull, .flag, .plain) { !$0 },
        PayloadMember("overwriting", \.overwrites, .flag, .plain) { !$0 },
        PayloadMember("begunAt", \.begunAt, .time, .time),
        PayloadMember("bootID", \.bootID, .text, .text),
        PayloadMember("uptime", \.uptime, .integer, .plain),
    ]

    private var isFull: Bool {
        get { mode.isFull }
        set { mode = PullMode(isFull: newValue, overwrites: mode.overwrites) }
    }

    private var overwrites: Bool {
        get { mode.overwrites }
        set { mode = PullMode(isFull: mode.isFull, overwrites: newValue) }
    }

    /// The first trigger.
    private var trigger: String? {
        get { triggers.first?.rawValue }
        set {
            if triggers.isEmpty, let newValue { triggers = [SyncTrigger(rawValue: newValue)] }
        }
    }

    /// All of them, where there are several.
    private var otherTriggers: [String]? {
        get { triggers.count > 1 ? triggers.map(\.rawValue) : nil }
        set { if let newValue { triggers = newValue.map(SyncTrigger.init(rawValue:)) } }
    }
}

extension PayloadCodec<SyncScope> {
    fileprivate static var scope: Self {
        PayloadCodec(
            "a scope", { SyncScope($0) },
            append: { $1 += ($0.json ?? .null).encoded() })
    }
}

/// `sync.started`.
package struct SyncStarted: MemberPayload, EventPayload {
    package var run = RunStart()
    /// What chance the run had.
    package var seed: UInt64?

    package init() {}

    package static let members: [PayloadMember<Self>] = [
        PayloadMember(of: \.run),
        PayloadMember("seed", \.seed, .digits, .plain),
    ]

    package var gist: String? { run.triggers.first?.rawValue }
}
