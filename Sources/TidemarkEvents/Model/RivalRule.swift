// RivalRule.swift — the rule of a collection about entities of which only one may hold a state.

extension CollectionModel {
    /// Entities of which only one may hold a state: those whose field is null, or left out.
    ///
    /// One of them keeps the state, and the others get a value that ends it.
    public struct RivalRule: Sendable, Hashable {
        /// The value that ends a loser's state.
        @nonexhaustive public enum End: String, Sendable, Hashable, CaseIterable {
            /// The whole seconds from its start to its stop.
            case secondsSinceStart
            /// The whole milliseconds from its start to its stop.
            case millisecondsSinceStart
            /// The time of its stop, as the collection's ``DateFormat`` writes times.
            case stopTime
        }

        /// When a loser stops.
        @nonexhaustive public enum Stop: String, Sendable, Hashable, CaseIterable {
            /// At the earliest later start of any entity, or now; one that is overtaken by a local
            /// start stops now.
            case nextStart
            /// The same, of entities that were changed no earlier than the loser.
            case nextStartNotOlder
            /// Always now.
            case now
        }

        /// Which of two rivals wins that were changed at the same time.
        @nonexhaustive public enum Ties: String, Sendable, Hashable, CaseIterable {
            /// The one with the later start, then the one with the greater id: independent of the
            /// order of arrival.
            case start
            /// The one that was here first: dependent on the order of arrival.
            case arrival
        }

        /// The field that is null, or left out, while an entity holds the state.
        public var whileNull: String
        /// The field with the time at which an entity started.
        public var start: String
        /// The field with the time at which an entity stopped; nil where there is none.
        ///
        /// An entity that has it does not hold the state where ``whileNull`` is left out.
        public var stopped: String?
        /// The value that a loser gets in the field.
        public var end: End
        /// The fields by which rivals are grouped; without any the whole collection is one group.
        public var among: [String]
        /// When a loser stops.
        public var stop: Stop
        /// Who wins a tie.
        public var ties: Ties

        /// Rivals by a field that is null while the state lasts.
        public init(
            whileNull: String, start: String, stopped: String? = nil,
            end: End = .secondsSinceStart, among: [String] = [],
            stop: Stop = .nextStart, ties: Ties = .start
        ) {
            self.whileNull = whileNull
            self.start = start
            self.stopped = stopped
            self.end = end
            self.among = among
            self.stop = stop
            self.ties = ties
        }
    }
}

package typealias RivalRule = CollectionModel.RivalRule

extension RivalRule {
    /// The fields that the rule reads.
    package var fields: [String] { [whileNull, start] + [stopped].compactMap(\.self) + among }
}

extension RivalRule: ModelObject {
    static let blank = RivalRule(whileNull: "", start: "")

    static let members: [ModelMember<RivalRule>] = [
        ModelMember(
            "whileNull", \.whileNull, .text, isNeeded: true,
            "The field that is null, or left out, while an entity holds the state."),
        ModelMember(
            "start", \.start, .text, isNeeded: true,
            "The field with the time at which an entity started."),
        ModelMember(
            "stopped", \.stopped, .text,
            """
            The field with the time at which an entity stopped: one that has it holds no state \
            where the field of whileNull is left out.
            """),
        ModelMember(
            "end", \.end, .word,
            """
            The value that ends a loser's state: the whole seconds or milliseconds from its start \
            to its stop, or the time of its stop in the collection's format of times.
            """),
        ModelMember(
            "among", \.among, ModelCodec.text.list(),
            "The fields that are equal among rivals; without any, all entities are rivals."),
        ModelMember(
            "stop", \.stop, .word,
            """
            When a loser stops: at the earliest later start, at that of an entity that was \
            changed no earlier than the loser, or always now.
            """),
        ModelMember(
            "ties", \.ties, .word,
            """
            Who goes on where two were changed at the same time: the later start, or what was \
            here first.
            """),
    ]
}
