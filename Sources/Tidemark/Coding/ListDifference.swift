// ListDifference.swift — the new text of a list: elements that did not change stay as they are
// written in the document, with members that the type does not know.

import TidemarkEvents

/// A list before and after an edit, and as it stands in the document.
struct ListDifference {
    typealias Text = ArraySlice<UInt8>
    /// The new text of an element of the encoding after the edit, of that before, and of what
    /// stands in the document; the node is what the new one was encoded from.
    typealias Merge = (
        _ after: Text, _ before: Text, _ present: Text, _ node: EncodedNode?
    ) -> Text

    private let after: [Text]
    private let before: [Text]
    private let present: [Text]
    private let dates: DateFormat
    private let isStanding: Bool

    /// Nil where one of them is no list.
    ///
    /// - Parameters:
    ///   - dates: how the server writes times.
    ///   - isStanding: whether the list before is what is read of that in the document; of another
    ///     one a place does not tell what stands there.
    init?(
        from before: Text?, to after: Text, in present: Text?, dates: DateFormat, isStanding: Bool
    ) {
        guard let before = before.flatMap(Self.elements), let after = Self.elements(after),
            let present = present.flatMap(Self.elements)
        else { return nil }
        (self.before, self.after, self.present) = (before, after, present)
        self.dates = dates
        self.isStanding = isStanding
    }

    /// The new text; nil where it is the whole encoding.
    ///
    /// - Parameter node: what the list was encoded from.
    func text(_ node: EncodedNode?, merging merge: Merge) -> [UInt8]? {
        let parts =
            if let count = node?.unordered { unordered(count, node, merge) } else {
                ordered(node, merge)
            }
        return parts.map { parts in
            [UInt8(ascii: "[")] + parts.joined(separator: [UInt8(ascii: ",")])
                + [UInt8(ascii: "]")]
        }
    }

    // MARK: In order

    /// The elements of a list of which the document has as many as there were.
    private func ordered(_ node: EncodedNode?, _ merge: Merge) -> [Text]? {
        guard before.count == present.count, let places = places() else { return nil }
        // Those that did not change, in their places, and then those that moved.
        var origins = after.indices.map { place in
            place < before.count && before[place] == after[place] ? place : nil
        }
        let taken = Set(origins.compactMap(\.self))
        var moved: [Text: [Int]] = [:]
        for place in before.indices.reversed() where !taken.contains(place) {
            moved[before[place], default: []].append(place)
        }
        for place in after.indices where origins[place] == nil {
            origins[place] = moved[after[place]]?.popLast()
        }
        let kept = Set(origins.compactMap(\.self))
        return after.indices.map { place in
            if let origin = origins[place] {
                return places[origin].map { present[$0] } ?? after[place]
            }
            guard after.count == before.count, !kept.contains(place), let there = places[place]
            else { return after[place] }
            return merge(after[place], before[place], present[there], node?.element(at: place))
        }
    }

    /// How many elements that differ tell whether a list is in order.
    private static let lookedAtMax = 8

    /// Where each element of before stands in the document: in its own place, but for a type that
    /// writes its list in another order than it reads it.
    ///
    /// Nil where the list was changed meanwhile and lacks one of them.
    private func places() -> [Int?]? {
        let (old, there) = (before.map(Self.value), present.map(Self.value))
        guard isStanding else {
            let found = matches(of: old, in: there)
            return found.contains(nil) ? nil : found
        }
        let isInOrder =
            Self.isInOrder(old, there) && Self.isInOrder(old.map(plain), there.map(plain))
        return isInOrder ? Array(old.indices) : matches(of: old, in: there)
    }

    /// Whether no element that differs from what stands in its place is what stands in another.
    private static func isInOrder(_ old: [JSONValue?], _ there: [JSONValue?]) -> Bool {
        let others = old.indices.filter { !holds(there[$0], old[$0]) }
        return !others.prefix(lookedAtMax).contains { place in
            others.contains { $0 != place && holds(there[$0], old[place]) }
        }
    }

    // MARK: Without an order

    /// What stands in the document and is still in the list, in its order, and then what is new.
    ///
    /// - Parameter count: how many elements are one: the first of them tells which.
    private func unordered(_ count: Int, _ node: EncodedNode?, _ merge: Merge) -> [Text]? {
        guard [before, after, present].allSatisfy({ $0.count.isMultiple(of: count) }) else {
            return nil
        }
        func heads(_ elements: [Text]) -> [Int] {
            Array(stride(from: 0, to: elements.count, by: count))
        }
        let (old, there) = (heads(before), heads(present))
        let places = matches(
            of: old.map { Self.value(before[$0]) }, in: there.map { Self.value(present[$0]) })
        var known: [Text: [Int]] = [:]
        for index in old.indices.reversed() {
            known[before[old[index]], default: []].append(index)
        }
        var kept: [Int: [Text]] = [:]
        var new: [[Text]] = []
        for start in heads(after) {
            guard let index = known[after[start]]?.popLast(), let place = places[index] else {
                new.append(Array(after[start..<start + count]))
                continue
            }
            kept[place] = (0..<count).map { offset in
                let (after, before) = (after[start + offset], before[old[index] + offset])
                let present = present[there[place] + offset]
                if after == before { return present }
                return merge(after, before, present, node?.element(at: start + offset))
            }
        }
        return (there.indices.compactMap { kept[$0] } + new).flatMap(\.self)
    }

    // MARK: What is what

    /// Which value of the document each old one is, each its own: an equal one, one that says the
    /// same, or else one that has more members; nil where there is none.
    private func matches(of old: [JSONValue?], in there: [JSONValue?]) -> [Int?] {
        var found = [Int?](repeating: nil, count: old.count)
        var taken: Set<Int> = []
        func findEqual(_ old: [JSONValue?], in there: [JSONValue?]) {
            var equal: [JSONValue?: [Int]] = [:]
            for place in there.indices.reversed() where !taken.contains(place) {
                equal[there[place], default: []].append(place)
            }
            for index in old.indices where found[index] == nil {
                guard let place = equal[old[index]]?.popLast() else { continue }
                found[index] = place
                taken.insert(place)
            }
        }
        findEqual(old, in: there)
        guard taken.count < old.count else { return found }
        let (plainOld, plainThere) = (old.map(plain), there.map(plain))
        findEqual(plainOld, in: plainThere)
        // Of two that may be the same the one with more members has less to choose from.
        var free = there.indices.filter { !taken.contains($0) }
        let open = old.indices.filter { found[$0] == nil }
            .map { (index: $0, members: old[$0]?.object?.count ?? 0) }
            .sorted { ($1.members, $0.index) < ($0.members, $1.index) }
        for (index, _) in open {
            guard
                let next = free.firstIndex(where: {
                    Self.holds(plainThere[$0], plainOld[index])
                })
            else { continue }
            found[index] = free.remove(at: next)
        }
        return found
    }

    /// A value in a notation that the encoding and the server share: an id is a text for one and
    /// perhaps a number for the other, and a time may have an offset.
    private func plain(_ value: JSONValue?) -> JSONValue? { value.map { plainValue($0) } }

    private func plainValue(_ value: JSONValue) -> JSONValue {
        switch value {
        case .null, .bool: return value
        case .number: return value.idText.map { JSONValue.string($0) } ?? value
        case .string(let text):
            guard dates == .iso8601, let first = text.utf8.first, first &- 0x30 < 10,
                let time = dates.timestamp(value.encoded()[...])
            else { return value }
            return .string(time.description)
        case .array(let elements): return .array(elements.map { plainValue($0) })
        case .object(let members):
            var result = JSONObject()
            for (name, member) in members { result[name] = plainValue(member) }
            return .object(result)
        }
    }

    /// Whether a value has all that another one has, and perhaps more members.
    private static func holds(_ there: JSONValue?, _ old: JSONValue?) -> Bool {
        if there == old { return true }
        switch (there, old) {
        case (.object(let there), .object(let old)):
            return old.allSatisfy { name, value in
                there[name].map { holds($0, value) } ?? (value == .null)
            }
        case (.array(let there), .array(let old)):
            return there.count == old.count && zip(there, old).allSatisfy(holds)
        default: return false
        }
    }

    private static func value(_ text: Text) -> JSONValue? { try? JSONValue(parsing: text) }

    private static func elements(_ text: Text) -> [Text]? {
        guard text.first == UInt8(ascii: "[") else { return nil }
        let bytes = Array(text)
        return ((try? JSON.arrayElements(of: bytes)) ?? nil)?.map { bytes[$0] }
    }
}
