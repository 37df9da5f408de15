// Dhis2ValueSummary.swift — what DHIS2 says of data values that were sent.
//
//   SUCCESS   all of them were taken, but for those that it numbers, and for zeros that do not
//             count for their data element: these are left out without a word, or, from 2.38 on
//             where a value was there, counted as deletions of it
//   ERROR     none of them was; without a conflict, and where none is counted as left out, the
//             import broke off: that says nothing of any value, and some may be stored
//   WARNING   some were: a conflict is about those that it numbers, or names by their fields
//
// What was left out for a conflict is not on the server, so that it is refused; what was taken all
// the same is warned of. Before 2.38 the numbers are missing: where a conflict fits no value, or
// more values fit than were left out, nobody knows which those are. Then each of these gets what is
// said, stays pending, and is sent again: to send a value twice does no harm.

import TidemarkEvents
import TidemarkSync

struct Dhis2ValueSummary {
    private enum Status { case success, warning, error }

    /// Something that is wrong with some values.
    fileprivate struct Conflict {
        var code: String?
        var message: String
        /// The field that it is about.
        var property: String?
        /// The places of the values in what was sent; empty where the server does not say.
        var indexes: [Int]
        /// What is named in it.
        var words: Set<String>
    }

    private let status: Status
    private let conflicts: [Conflict]
    /// The places of those that were left out; empty where the server does not say.
    private let rejected: [Int]
    /// How many were left out.
    private let ignored: Int
    /// How many were stored, and how many of these as deletions; nil where nothing tells.
    private let stored: (all: Int, deleted: Int)?
    private let sentence: String?

    /// Nil where it is no summary, or that of an import that broke off.
    init?(_ answer: JSONObject) {
        let summary = answer["response"]?.object ?? answer
        guard summary["responseType"]?.stringValue?.hasPrefix("ImportSummary") == true else {
            return nil
        }
        switch summary["status"]?.stringValue {
        case "SUCCESS", "OK": status = .success
        case "WARNING": status = .warning
        case "ERROR": status = .error
        default: return nil
        }
        conflicts = summary["conflicts"]?.array?.compactMap(\.object).map(Conflict.init) ?? []
        rejected = Self.numbers(summary["rejectedIndexes"])
        func count(_ name: String) -> Int? {
            summary["importCount"]?[name]?.int64Value.flatMap(Int.init(exactly:))
        }
        ignored = count("ignored") ?? 0
        if let made = count("imported"), let updated = count("updated"),
            let deleted = count("deleted"),
            [made, updated, deleted].allSatisfy({ $0 >= 0 && $0 < 1_000_000 })
        {
            stored = (made + updated + deleted, deleted)
        } else {
            stored = nil
        }
        sentence = summary["description"]?.stringValue
        if status == .error, conflicts.isEmpty, ignored == 0 { return nil }
    }

    fileprivate static func numbers(_ value: JSONValue?) -> [Int] {
        value?.array?.compactMap { $0.int64Value.flatMap(Int.init(exactly:)) } ?? []
    }

    /// What came of each write, in the order in which they were sent.
    func answers(to calls: [ServerCall]) -> [BatchedAnswer] {
        let said = said(of: calls)
        let numbered = numbered(calls.count)
        let silent = status == .success ? silentlyLeftOut(of: calls, besides: numbered) : []
        return calls.indices.map { index in
            let own = said.own[index] + said.unplaced
            switch status {
            case .success:
                // What is to be deleted and is not there is numbered, too.
                guard numbered.contains(index), calls[index].write?.body != nil else {
                    return taken(calls[index], silent.contains(index) ? [.zero] : [])
                }
                let all = own.isEmpty ? [Conflict("left out: " + (sentence ?? "no reason"))] : own
                return .refused(issues(all, .error, calls[index]))
            case .error:
                let all = own.isEmpty ? [Conflict(sentence ?? "no reason")] : own
                return .refused(issues(all, .error, calls[index]))
            case .warning:
                switch fate(of: index, said, numbered, calls.count) {
                case .taken: return taken(calls[index], own)
                case .leftOut: return .refused(issues(own, .error, calls[index]))
                case .unknown:
                    return BatchedAnswer(
                        status: 200, .ignored(issues(own, .error, calls[index])),
                        effect: .turnedAway)
                }
            }
        }
    }

    // MARK: Which values are meant

    /// The conflicts by the values that they are about.
    private struct Said {
        var own: [[Conflict]]
        /// Those that fit no value.
        var unplaced: [Conflict] = []

        var isPlaced: Bool { unplaced.isEmpty }
        var count: Int { own.count { !$0.isEmpty } }
    }

    private enum Fate { case taken, leftOut, unknown }

    private func said(of calls: [ServerCall]) -> Said {
        var said = Said(own: calls.map { _ in [] })
        let keys = calls.map { call in
            call.write.flatMap { write in try? Dhis2ValueKey(write.id) }?.parts ?? []
        }
        for conflict in conflicts {
            let places = conflict.places(among: keys)
            if places.isEmpty { said.unplaced.append(conflict) }
            for place in places { said.own[place].append(conflict) }
        }
        return said
    }

    /// Those of so many values of which the server says by their numbers that they were left out;
    /// none where it does not number them, or others as well.
    private func numbered(_ count: Int) -> Set<Int> {
        rejected.allSatisfy((0..<count).contains) ? Set(rejected) : []
    }

    /// The places of the zeros, where fewer values were stored than were sent and not numbered, or
    /// more deleted than were to be.
    ///
    /// Up to 2.37 those that are left out without a word count as ignored, and so does, in every
    /// version, what is to be deleted and is not there.
    private func silentlyLeftOut(
        of calls: [ServerCall], besides numbered: Set<Int>
    ) -> Set<Int> {
        guard let stored else { return [] }
        let missing = calls.count - stored.all - numbered.count
        let texts = calls.map(Self.text)
        let empty = texts.count { $0.isEmpty }
        let toDelete = texts.indices.count { texts[$0].isEmpty && !numbered.contains($0) }
        guard missing > max(0, empty - stored.deleted) || stored.deleted > toDelete else {
            return []
        }
        return Set(calls.indices.filter { JSONNumber(text: texts[$0]) == JSONNumber(0) })
    }

    /// The value that a write sends; empty for a deletion.
    private static func text(of call: ServerCall) -> String {
        let document = call.write?.body.flatMap { try? JSONDocument(parsing: $0) }
        guard let value = document?.value("value"), value != .null else { return "" }
        return value.stringValue ?? value.description
    }

    /// What became of a value where some were left out, or may have been.
    private func fate(
        of index: Int, _ said: Said, _ numbered: Set<Int>, _ count: Int
    ) -> Fate {
        if !numbered.isEmpty { return numbered.contains(index) ? .leftOut : .taken }
        if ignored == 0 { return .taken }
        if ignored >= count { return .leftOut }
        guard said.isPlaced else { return .unknown }
        if said.own[index].isEmpty { return .taken }
        return ignored >= said.count ? .leftOut : .unknown
    }

    // MARK: What is answered

    private func taken(_ call: ServerCall, _ conflicts: [Conflict]) -> BatchedAnswer {
        let isDeletion = call.write?.body == nil
        return BatchedAnswer(
            status: 200,
            .stored(
                id: call.write?.id ?? "", nil,
                issues: isDeletion ? [] : issues(conflicts, .warning, call)))
    }

    private func issues(
        _ conflicts: [Conflict], _ severity: ServerIssue.Severity, _ call: ServerCall
    ) -> [ServerIssue] {
        let document = call.write?.body.flatMap { try? JSONDocument(parsing: $0) }
        return conflicts.map { conflict in
            var issue = ServerIssue(severity, code: conflict.code, conflict.message)
            guard let property = conflict.property, let value = document?.value(property) else {
                return issue
            }
            issue.path = property
            issue.value = value.stringValue ?? value.description
            return issue
        }
    }
}

extension Dhis2ValueSummary.Conflict {
    fileprivate init(_ object: JSONObject) {
        code = object["errorCode"]?.stringValue
        message = object["value"]?.stringValue ?? ""
        property = object["property"]?.stringValue
        indexes = Dhis2ValueSummary.numbers(object["indexes"])
        words = Set(
            "\(message) \(object["object"]?.stringValue ?? "")"
                .split { !($0.isLetter || $0.isNumber) }.map(String.init))
    }

    fileprivate init(_ message: String, about property: String? = nil) {
        (code, indexes, words) = (nil, [], [])
        self.property = property
        self.message = message
    }

    /// What is said of a zero that was left out without a word.
    fileprivate static var zero: Self {
        Self("not stored: zero is not significant for its data element", about: "value")
    }

    /// The places of the values that it is about; empty where it fits none.
    ///
    /// - Parameter keys: what each value is told by.
    fileprivate func places(among keys: [[String]]) -> [Int] {
        // What is said of a single value is said of that one.
        if keys.count == 1 { return [0] }
        if !indexes.isEmpty {
            return indexes.allSatisfy(keys.indices.contains) ? Array(Set(indexes)).sorted() : []
        }
        let named = Dhis2ValueKey.fields.indices.map { field in
            Set(keys.compactMap { $0.indices.contains(field) ? $0[field] : nil })
                .intersection(words)
        }
        guard named.contains(where: { !$0.isEmpty }) else { return [] }
        return keys.indices.filter { place in
            zip(named, keys[place]).allSatisfy { $0.isEmpty || $0.contains($1) }
        }
    }
}
