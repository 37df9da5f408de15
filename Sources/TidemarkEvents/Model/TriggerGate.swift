// TriggerGate.swift — how often something in the app may begin a sync run; part of a model.

extension SyncSettings {
    /// How often a trigger that the app names may begin a run: a sliding window.
    ///
    /// An attempt counts from when it begins, whatever comes of it, and over restarts. The user's
    /// own request, ``SyncTrigger/userRequested``, is never held, and counts as an attempt of every
    /// gate.
    public struct TriggerGate: Sendable, Hashable {
        /// The name of the trigger.
        public var name: String
        /// That many attempts at most, from 1 to 1,000.
        public var count: Int
        /// Within any time of that length, from a second to a day.
        public var window: TimeSpan

        /// At most `count` attempts within any time of that length.
        public init(_ name: String, count: Int, window: TimeSpan) {
            self.name = name
            self.count = count
            self.window = window
        }
    }
}

package typealias TriggerGate = SyncSettings.TriggerGate

extension TriggerGate {
    /// The largest name, in bytes of UTF-8.
    package static let nameBytesMax = 100

    /// What is wrong with the name; nil where it can be used.
    fileprivate var problem: String? {
        guard case .named = SyncTrigger(rawValue: name) else {
            return "every app has the trigger \(name), and no gate holds it; choose another name"
        }
        let isUsable =
            !name.isEmpty && name.utf8.count <= Self.nameBytesMax
            && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        return isUsable
            ? nil
            : "a name of 1 to \(Self.nameBytesMax) bytes without control characters is needed"
    }
}

extension SyncSettings {
    /// Refuses gates of triggers that no app can name.
    ///
    /// - Throws: ``ModelError`` at the first of them.
    func checkGates() throws(ModelError) {
        for gate in gates {
            if let problem = gate.problem {
                throw ModelError("settings.gates.\(gate.name)", problem)
            }
        }
    }
}

extension SyncSettings {
    /// Refuses two gates of one trigger.
    ///
    /// - Throws: ``ModelError`` at the second of them.
    func checkGatesOnce() throws(ModelError) {
        var names: Set<ExactString> = []
        for gate in gates where !names.insert(ExactString(gate.name)).inserted {
            throw ModelError(
                "settings.gates.\(gate.name)", "it has two gates; leave one of them out")
        }
    }
}

extension TriggerGate: ModelObject {
    static let blank = TriggerGate("", count: 0, window: .zero)

    static let members: [ModelMember<TriggerGate>] = [
        ModelMember(
            "count", \.count, .number(1...1000), isNeeded: true,
            "That many attempts at most."),
        ModelMember(
            "window", \.window, .span(from: .seconds(1), to: .days(1), such: "PT15M"),
            isNeeded: true, "Within any time of that length."),
    ]
}
