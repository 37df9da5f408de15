// Dhis2Metadata.swift — metadata: programs, units, data elements and whatever else is put.
//
// Objects are returned as they were put, with `id`, `created` and `lastUpdated`. Of the conditions
// of a list those that clients send are known, with `AND` between them.

import TidemarkEvents
import TidemarkSync

/// An object of the metadata.
struct Dhis2Metadatum: Sendable, Hashable {
    var id: String
    var created: Timestamp
    var lastUpdated: Timestamp
    var fields: JSONObject

    func text(_ member: String) -> String? { fields[member]?.stringValue }

    /// The id of an object to which a member refers.
    func reference(_ member: String) -> String? { fields[member]?["id"]?.stringValue }

    /// The ids of the objects in a list, or of what each of them refers to by a member.
    func references(_ member: String, by inner: String? = nil) -> [String] {
        (fields[member]?.array ?? []).compactMap { item in
            (inner.map { item[$0] } ?? item)?["id"]?.stringValue
        }
    }

    func flag(_ member: String) -> Bool { fields[member]?.boolValue ?? false }
}

extension Dhis2ServerModel {
    /// Lists that are empty and not unknown when nothing was put.
    private static let resources: Set = [
        "attributes", "categories", "categoryCombos", "categoryOptionCombos", "categoryOptions",
        "constants", "dataElements", "dataSets", "indicators", "legendSets", "optionGroups",
        "optionSets", "options", "organisationUnitGroups", "organisationUnitLevels",
        "organisationUnits", "programIndicators", "programRules", "programStages", "programs",
        "relationshipTypes", "trackedEntityAttributes", "trackedEntityTypes", "users",
        "validationRules", "visualizations",
    ]

    static func isMetadata(_ resource: String) -> Bool { resources.contains(resource) }

    func metadatum(_ resource: String, _ id: String?) -> Dhis2Metadatum? {
        guard let id else { return nil }
        return metadata[resource]?.first { $0.id == id }
    }

    mutating func putMetadatum(
        _ resource: String, _ id: String, _ fields: JSONObject, now: Timestamp
    ) {
        var list = metadata[resource] ?? []
        let place = list.firstIndex { $0.id == id }
        var fields = fields
        let updated = fields["lastUpdated"]?.stringValue.flatMap(time.parse) ?? now
        let created = fields["created"]?.stringValue.flatMap(time.parse)
        for member in ["id", "created", "lastUpdated"] { fields[member] = nil }
        let old = place.map { list[$0].created }
        let new = Dhis2Metadatum(
            id: id, created: created ?? old ?? updated, lastUpdated: updated, fields: fields)
        if let place { list[place] = new } else { list.append(new) }
        metadata[resource] = list
    }

    func wire(_ metadatum: Dhis2Metadatum) -> JSONObject {
        var object: JSONObject = [
            "id": .string(metadatum.id), "created": .string(time.text(metadatum.created)),
            "lastUpdated": .string(time.text(metadatum.lastUpdated)),
        ]
        for (key, value) in metadatum.fields { object[key] = value }
        if object["displayName"] == .none { object["displayName"] = object["name"] }
        return object
    }

    // MARK: Answers

    func metadataList(
        _ resource: String, _ call: Dhis2Call
    ) throws(Dhis2Rejection) -> TransportResponse {
        guard Self.isMetadata(resource) else { throw .noAddress }
        let filters = try call.query.all("filter").map { text throws(Dhis2Rejection) in
            try Dhis2Filter(text)
        }
        let page = try call.query.page()
        let found = ordered(
            (metadata[resource] ?? []).map { wire($0) }
                .filter { object in filters.allSatisfy { $0.passes(object, time) } }, call.query,
            page)
        let fields = Dhis2Fields(call.query.text("fields") ?? "id,displayName")
        var answer = JSONObject()
        if let page {
            answer["pager"] = [
                "page": .integer(Int64(page.number)), "total": .integer(Int64(found.count)),
                "pageSize": .integer(Int64(page.size)),
                "pageCount": .integer(Int64(page.pages(of: found.count))),
            ]
        }
        let rows = page?.cut(found) ?? found
        answer[resource] = .array(rows.map { .object(fields.only($0)) })
        return Dhis2Reply.json(200, .object(answer))
    }

    func metadatum(
        _ resource: String, _ id: String, _ call: Dhis2Call
    ) throws(Dhis2Rejection) -> TransportResponse {
        guard Self.isMetadata(resource) else { throw .noAddress }
        guard let found = metadatum(resource, id) else { throw .missing(Self.word(resource), id) }
        return Dhis2Reply.json(200, .object(selected(wire(found), call.query)))
    }

    /// `OrganisationUnit` for `organisationUnits`.
    private static func word(_ resource: String) -> String {
        let single =
            resource.hasSuffix("ies") ? resource.dropLast(3) + "y" : String(resource.dropLast())
        return single.prefix(1).uppercased() + single.dropFirst()
    }

    /// By the properties of `order`, or by name; what is equal keeps its place, or is mixed.
    private func ordered(
        _ rows: [JSONObject], _ query: Dhis2Query, _ page: Dhis2Page?
    ) -> [JSONObject] {
        let named = query.list("order").map { order in
            order.split(separator: ":").map(String.init)
        }
        let orders = named.isEmpty ? [["displayName"]] : named
        let mixing = mixesTies ? page : nil
        func text(_ row: JSONObject, _ member: String) -> String { row[member]?.stringValue ?? "" }
        let places = rows.indices.sorted { left, right in
            for order in orders {
                let member = order.first ?? "displayName"
                let (one, other) = (text(rows[left], member), text(rows[right], member))
                guard one != other else { continue }
                let isDown = order.count > 1 && order[1].lowercased() == "desc"
                return isDown ? one > other : one < other
            }
            guard let mixing else { return left < right }
            return mixing.tie(text(rows[left], "id")) < mixing.tie(text(rows[right], "id"))
        }
        return places.map { rows[$0] }
    }
}

/// A condition of a list of metadata: `lastUpdated:gt:2024-01-01`.
struct Dhis2Filter: Sendable {
    private static let comparisons: Set = [
        "eq", "!eq", "ne", "neq", "gt", "ge", "lt", "le", "in", "!in", "like", "ilike", "$like",
        "null", "!null",
    ]

    let member: [String]
    let comparison: String
    let value: String

    /// - Throws: 400 when it is no condition.
    init(_ text: String) throws(Dhis2Rejection) {
        let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, Self.comparisons.contains(String(parts[1])) else {
            throw Dhis2Rejection(400, "Invalid filter: \(text)")
        }
        member = parts[0].split(separator: ".").map(String.init)
        comparison = String(parts[1])
        value = parts.count > 2 ? String(parts[2]) : ""
    }

    func passes(_ object: JSONObject, _ time: Dhis2Time) -> Bool {
        let found = Self.values(.object(object), member[...])
        let texts = found.map { $0.stringValue ?? $0.description }
        switch comparison {
        case "null": return found.allSatisfy { $0 == .null }
        case "!null": return found.contains { $0 != .null }
        case "eq": return texts.contains(value)
        case "!eq", "ne", "neq": return !texts.contains(value)
        case "in", "!in":
            let wanted = value.filter { $0 != "[" && $0 != "]" }.split(separator: ",")
            return texts.contains { wanted.contains(Substring($0)) } == (comparison == "in")
        case "like", "ilike", "$like":
            return texts.contains { $0.lowercased().contains(value.lowercased()) }
        default: return texts.contains { compares($0, time) }
        }
    }

    /// Compares times as times, and everything else as text.
    private func compares(_ text: String, _ time: Dhis2Time) -> Bool {
        let order: Int
        if let left = time.parse(text), let right = time.parse(value) {
            order = left == right ? 0 : left < right ? -1 : 1
        } else {
            order = text == value ? 0 : text < value ? -1 : 1
        }
        return switch comparison {
        case "gt": order > 0
        case "ge": order >= 0
        case "lt": order < 0
        default: order <= 0
        }
    }

    /// What a path names; of a list, what it names in each element.
    private static func values(_ value: JSONValue, _ path: ArraySlice<String>) -> [JSONValue] {
        if let list = value.array { return list.flatMap { values($0, path) } }
        guard let first = path.first else { return [value] }
        return value[first].map { values($0, path.dropFirst()) } ?? []
    }
}
