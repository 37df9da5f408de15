// KintoFilter.swift — the filters of a list request, compared as Kinto 26.5 does with storage in
// memory.
//
//   lt_F max_F eq_F F not_F min_F gt_F   by the order of KintoValue; a value that is JSON counts as
//                                        such, any other as a text
//   has_F                                what it says counts alone: filters before it are forgotten
//   in_id                                ids with commas between them
//   _since                               as gt_last_modified, for integers
//
// A filter by `last_modified` lists tombstones, too.

import TidemarkEvents

/// One filter.
struct KintoFilter: Sendable {
    enum Comparison: String, CaseIterable { case lt, max, eq, not, min, gt }

    enum Condition: Sendable {
        case compares(Comparison, KintoValue)
        case exists(Bool)
        case isAmong(Set<String>)
    }

    var field: String
    var condition: Condition

    /// Whether an object passes all filters; 500 where Kinto fails to compare.
    static func pass(_ object: KintoObject, _ filters: [KintoFilter]) throws(KintoRefusal) -> Bool {
        var passes = true
        for filter in filters {
            let value = object.value(filter.field)
            switch filter.condition {
            case .exists(let exists): passes = (value != .missing) == exists
            case .isAmong(let ids): passes = passes && ids.contains(object.id)
            case .compares(let comparison, let bound):
                // What comes after a filter that failed is not compared.
                if passes { passes = try comparison.holds(value.compared(to: bound)) }
            }
        }
        return passes
    }
}

extension KintoFilter.Comparison {
    /// Whether the comparison holds for an order, -1, 0 or 1; nil for values without one.
    fileprivate func holds(_ order: Int?) throws(KintoRefusal) -> Bool {
        switch self {
        case .eq: return order == 0
        case .not: return order != 0
        case .lt, .max, .min, .gt: break
        }
        guard let order else { throw .failed }
        return switch self {
        case .lt: order < 0
        case .max: order <= 0
        case .min: order >= 0
        case .gt, .eq, .not: order > 0
        }
    }
}

// MARK: Reading a query

extension KintoQuery {
    /// The filters in a query, in its order.
    ///
    /// Refused as no part of the model: names with a `.`, which are paths, other comparisons, and
    /// what begins with `_`, which Kinto ignores.
    func filters(_ nowMilliseconds: Int64) throws(KintoRefusal) -> [KintoFilter] {
        // These are checked before all others.
        let since = try integer("_since")
        switch self["id"].map({ KintoValue(query: $0) }) {
        case .integer(let id): throw .invalid("querystring", "id", Self.isNoID("\(id)"))
        case .real(let id): throw .invalid("querystring", "id", Self.isNoID("\(id)"))
        default: break
        }
        let version = try integer("last_modified")
        var filters: [KintoFilter] = []
        for (name, text) in items where !Self.parameters.contains(name) {
            let value: KintoValue? = name == "last_modified" ? version.map { .integer($0) } : nil
            filters.append(
                try name == "_since"
                    ? KintoFilter(
                        field: "last_modified",
                        condition: .compares(
                            .gt,
                            try timestamp(
                                name, since.map { .integer($0) } ?? .text(text), nowMilliseconds)))
                    : filter(name, text, value ?? KintoValue(query: text), nowMilliseconds))
        }
        return filters
    }

    /// Refuses a query, which is modelled for lists that are read.
    func requireNone() throws(KintoRefusal) {
        guard let name = items.first?.name else { return }
        throw .invalid("querystring", name, "This parameter is not part of the model")
    }

    private static func isNoID(_ number: String) -> String {
        "\(number) is not a string: {'id': ''}"
    }

    /// The parameters of a list that are no filters.
    private static let parameters: Set = ["_limit", "_sort", "_fields", "_token"]

    private func filter(
        _ name: String, _ text: String, _ value: KintoValue, _ nowMilliseconds: Int64
    ) throws(KintoRefusal) -> KintoFilter {
        if name == "in_id" {
            return KintoFilter(field: "id", condition: .isAmong(try Self.ids(text)))
        }
        guard !name.hasPrefix("_"), !name.contains("."),
            !Self.notModelled.contains(where: name.hasPrefix)
        else {
            throw .invalid(
                "querystring", "unknown", "This parameter is not part of the model")
        }
        let parts = name.split(separator: "_", maxSplits: 1, omittingEmptySubsequences: false)
        let isWord = parts.count == 2 && !parts[1].isEmpty && parts[1].utf8.allSatisfy(Self.isWord)
        let comparison = isWord ? KintoFilter.Comparison(rawValue: String(parts[0])) : nil
        let tests = isWord && parts[0] == "has"
        let field = comparison == nil && !tests ? name : String(parts[1])
        if case .text(let text) = value, text.utf8.contains(0) {
            throw .invalid("querystring", name, "Invalid character 0x00")
        }
        var value = value
        if field == "last_modified" { value = try timestamp(name, value, nowMilliseconds) }
        if field == "id" { value = value.asID }
        return KintoFilter(
            field: field,
            condition: tests ? .exists(value.isTrue) : .compares(comparison ?? .eq, value))
    }

    private static let notModelled = ["in_", "exclude_", "like_", "contains_"]

    /// Whether a byte may stand in the name of a field that is compared or sorted by.
    static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }

    private static func ids(_ text: String) throws(KintoRefusal) -> Set<String> {
        var ids: Set<String> = []
        for item in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard case .text(let id) = KintoValue(query: item) else {
                throw .invalid("querystring", "in_id", "Invalid value for in_id")
            }
            ids.insert(id)
        }
        return ids
    }

    /// The value for a timestamp: a number, or its digits as a text, perhaps in quotes; at most a
    /// day ahead of the server's clock.
    private func timestamp(
        _ name: String, _ value: KintoValue, _ nowMilliseconds: Int64
    ) throws(KintoRefusal) -> KintoValue {
        let number: Int64? =
            switch value {
            case .integer(let number): number
            case .real(let number): Int64(exactly: number.rounded(.towardZero))
            case .text(let text):
                Int64(text.hasPrefix("\"") ? String(text.dropFirst().dropLast()) : text)
            default: nil
            }
        guard let number, 0..<(nowMilliseconds + 86_400_000) ~= number else {
            throw .invalid("querystring", name, "Invalid value for \(name)")
        }
        return value
    }

    /// A parameter that must be an integer that is not negative; nil where it is missing or empty.
    func integer(_ name: String) throws(KintoRefusal) -> Int64? {
        guard let text = self[name], !text.isEmpty else { return nil }
        let number: Int64? =
            switch KintoValue(query: text) {
            case .integer(let number): number
            case .real(let number): Int64(exactly: number.rounded(.towardZero))
            case .text(let text): Int64(text)
            default: nil
            }
        guard let number else { throw .invalid("querystring", name, "\"\(text)\" is not a number") }
        guard number >= 0 else {
            throw .invalid("querystring", name, "\(number) is less than minimum value 0")
        }
        return number
    }
}
