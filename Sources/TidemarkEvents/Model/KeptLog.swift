// KeptLog.swift — how much of its log a store keeps; part of a model's settings.

extension SyncSettings {
    /// How much of its log a store keeps at least.
    ///
    /// Older events are dropped at the end of sync runs and when the store closes, where a snapshot
    /// of the tables is at hand to go on from: never what waits in the outbox, is at issue, or
    /// belongs to the last 20 runs.
    @nonexhaustive public enum KeptLog: Sendable, Hashable {
        /// All of it.
        case all
        /// What was recorded within such a time before the last event.
        case span(TimeSpan)
        /// So many bytes, as they lie in the store, with the documents and answers that events
        /// refer to.
        case bytes(Int)
    }
}

package typealias KeptLog = SyncSettings.KeptLog

extension KeptLog: CustomStringConvertible {
    /// As it stands in a model: `never`, `P90D`, or a number.
    public var description: String {
        switch self {
        case .all: "never"
        case .span(let span): span.description
        case .bytes(let bytes): String(bytes)
        }
    }

    /// The fewest bytes that may be asked for.
    package static let bytesMin = 1 << 20
}

extension ModelCodec where Value == KeptLog {
    /// `"never"`, a duration, or a number of bytes.
    static let keptLog: ModelCodec = {
        let span = ModelCodec<TimeSpan>.span(
            from: .days(1), monthsMax: 1200, to: .days(36_500), such: "P90D")
        let bytes = ModelCodec<Int>.number(Int64(KeptLog.bytesMin)...(1 << 50))
        let wanted =
            "\"never\", a duration as in \"P90D\", or a number of bytes from "
            + "\(KeptLog.bytesMin) is needed"
        return ModelCodec(
            schema: [
                "anyOf": [["const": "never"], .object(span.schema), .object(bytes.schema)]
            ],
            wanted: wanted,
            read: { (value, place) throws(ModelError) in
                if value == .string("never") { return .all }
                do throws(ModelError) {
                    return value.stringValue == nil
                        ? .bytes(try bytes.read(value, place)) : .span(try span.read(value, place))
                } catch { throw place.error(wanted) }
            },
            write: { kept in
                switch kept {
                case .all: .string("never")
                case .span(let value): span.write(value)
                case .bytes(let value): bytes.write(value)
                }
            })
    }()
}
