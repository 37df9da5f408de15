// Dhis2DataValues.swift — aggregate data values of DHIS2, each an entity of `dataValues`.
//
//   a list        GET api/dataValueSets?dataSet=…&orgUnit=…&period=…&lastUpdated=…; of which
//                 periods: Dhis2Periods.swift
//   some values   GET api/dataValueSets?dataElement=…&orgUnit=…&period=…, up to 2.39 of the data
//                 sets that the model lists
//   up to 2.38    POST api/dataValueSets {"dataValues":[…]}
//   from 2.39 on  POST api/dataValueSets {"dataSet":…,"dataValues":[…]}, one for each data set
//
// DHIS2 tells a value by five fields and gives it no id: here its id is these, with hyphens between
// them. The document is the server's, with `id` added. In which data set a value was entered, its
// field `dataSet` says; the server keeps no such field, so that a list takes it out again.
//
// A list goes on a day before the last change that an earlier one told, as the clocks of those who
// write at the same time may differ. It has no pages.

import TidemarkEvents
import TidemarkSync

extension Dhis2Adapter {
    /// The id of an aggregate data value: DHIS2 tells values by these five.
    ///
    /// A value with another period, for example, is another one, with an id of its own.
    public static func id(
        dataElement: String, period: String, orgUnit: String, categoryOptionCombo: String,
        attributeOptionCombo: String
    ) -> String {
        Dhis2ValueKey(
            parts: [dataElement, period, orgUnit, categoryOptionCombo, attributeOptionCombo]
        ).id
    }

    /// How many seconds before the last change a list goes on.
    static let overlapSeconds: Int64 = 86_400

    // MARK: What is asked

    /// The place of a list, below `api`.
    func place(
        ofValues words: [(name: String, value: String)], after: Revision?
    ) throws(SyncFailure) -> String {
        let names = Set(words.map(\.name))
        let isDated = names.isSuperset(of: ["startDate", "endDate"])
        guard !names.isDisjoint(with: ["dataSet", "dataElementGroup"]),
            !names.isDisjoint(with: ["orgUnit", "orgUnitGroup"]),
            isDated || names.contains("period")
        else {
            throw .client(
                status: 0,
                "dataValues are listed by dataSet, orgUnit and period, or startDate and endDate, "
                    + "or periods, \"usual\" or how many, at most \(Dhis2PeriodType.countMax); "
                    + "name them in lists")
        }
        var query = words
        query.append(("includeDeleted", "true"))
        if let after { query.append((Self.since, Self.start(after: after))) }
        return Self.place(query)
    }

    /// The place at which values are asked for by their ids, below `api`.
    ///
    /// From 2.40 on DHIS2 lists by data element. Before, it does so by data set; the elements stand
    /// beside it for versions that know them. Where the model names no set, or very many, it is
    /// asked by element alone.
    func place(
        ofValues ids: [String], in collection: CollectionModel
    ) throws(SyncFailure) -> String {
        var keys: [Dhis2ValueKey] = []
        for id in ids { keys.append(try Dhis2ValueKey(id)) }
        return Self.place(
            Self.each("dataSet", in: askedSets(of: collection))
                + Self.each("dataElement", of: keys) + Self.each("orgUnit", of: keys)
                + Self.each("period", of: keys) + [("includeDeleted", "true")])
    }

    /// Whether an answer to a question for values, which leaves one out, says that there is none.
    ///
    /// One by data sets may not hold those of others, which other lists of the model are of.
    func tellsAbsence(ofValuesIn collection: CollectionModel) -> Bool {
        askedSets(of: collection).isEmpty
            || (collection.lists ?? []).allSatisfy { $0.parameters["dataSet"] != nil }
    }

    /// The data sets by which values are asked for: those that the model's lists name; none where
    /// it is done by data element.
    private func askedSets(of collection: CollectionModel) -> [String] {
        guard !dialect.listsElements else { return [] }
        let sets = (collection.lists ?? []).flatMap { list in
            list.parameters["dataSet"]?.split(separator: ",").map(String.init) ?? []
        }
        // More of them would not fit into an address.
        let bytes = sets.reduce(0) { $0 + ServerRequest.percentEncoded($1).utf8.count + 9 }
        return bytes > Self.idBytesMax ? [] : sets
    }

    private static let since = "lastUpdated"

    private static func place(_ query: [(name: String, value: String)]) -> String {
        let parts = query.map { "\($0.name)=\(ServerRequest.percentEncoded($0.value))" }
        return "dataValueSets?" + parts.joined(separator: "&")
    }

    private static func each(
        _ name: String, of keys: [Dhis2ValueKey]
    ) -> [(name: String, value: String)] {
        each(name, in: keys.map { $0[name] })
    }

    /// A parameter for each value, in the order in which they come first.
    private static func each(
        _ name: String, in values: [String]
    ) -> [(name: String, value: String)] {
        var seen: Set<String> = []
        return values.filter { seen.insert($0).inserted }.map { (name, $0) }
    }

    /// From when on changes are listed after a cursor; the cursor itself where it is no time.
    private static func start(after cursor: Revision) -> String {
        let text = cursor.description
        guard let time = moment(text) else { return text }
        let start = time.adding(seconds: -overlapSeconds).description
        // Milliseconds and a zone, as the server writes it.
        return start.dropLast(4) + "+0000"
    }

    /// A time with a zone, as in `2011-01-11T00:00:00.000+0000`; one without is taken for UTC.
    static func moment(_ text: String) -> Timestamp? {
        guard let clock = text.index(text.startIndex, offsetBy: 19, limitedBy: text.endIndex),
            let mark = text[clock...].firstIndex(where: { "Z+-".contains($0) })
        else { return Dhis2Day.moment(text) }
        let zone = text[mark...].filter { $0 != ":" }
        guard let wall = Dhis2Day.moment(String(text[..<mark])) else { return nil }
        if zone == "Z" { return wall }
        guard zone.utf8.count == 5, let hours = Int64(zone.dropFirst().prefix(2)),
            let minutes = Int64(zone.suffix(2))
        else { return nil }
        let ahead = hours * 3600 + minutes * 60
        return wall.adding(seconds: zone.first == "-" ? ahead : -ahead)
    }

    // MARK: What is answered

    /// The values of a list, and the last change among them; one ahead of `date` is none.
    func valuePage(
        _ after: Revision?, _ date: Timestamp?, _ body: [UInt8]
    ) throws(SyncFailure) -> ListPage {
        var result = ListPage(records: [], next: nil, cursor: nil)
        var changes: [String] = []
        for item in try valueItems(body) {
            let bytes = Array(body[item])
            do throws(SyncFailure) {
                result.records.append(try value(bytes))
                let change = JSON.value(Self.since, of: bytes)?.stringValue
                if let change { changes.append(change) }
            } catch {
                result.unreadable.append(
                    UnreadableRecord(id: nil, bytes: bytes, problem: error.detail))
            }
        }
        result.cursor = cursor(after, lastOf: changes, .dataValues, at: date)
        return result
    }

    /// The values that were asked for; what else the answer holds is none of them.
    func values(_ ids: [String], _ body: [UInt8]) throws(SyncFailure) -> [ServerRecord] {
        let asked = Set(ids.map { ExactString($0) })
        var records: [ServerRecord] = []
        for item in try valueItems(body) {
            let record = try value(Array(body[item]))
            if asked.contains(ExactString(record.id)) { records.append(record) }
        }
        return records
    }

    /// A set without values may have no list of them.
    private func valueItems(_ body: [UInt8]) throws(SyncFailure) -> [Range<Int>] {
        do {
            _ = try JSONDocument(parsing: body)
            return try JSON.arrayElements(of: body, at: "dataValues") ?? []
        } catch {
            throw .malformed("a set of data values: \(error)")
        }
    }

    private func value(_ bytes: [UInt8]) throws(SyncFailure) -> ServerRecord {
        let document: JSONDocument
        do { document = try JSONDocument(parsing: bytes) } catch {
            throw .malformed("a data value: \(error)")
        }
        let key = try Dhis2ValueKey(of: document)
        guard EntityKey("c", key.id).isValid else {
            throw .malformed("a data value with an id that is too long: \(key.id)")
        }
        let whole = document.applying(set: [("id", JSONValue.string(key.id).encoded())])
        do {
            return ServerRecord(
                id: key.id, revision: nil, parsed: try JSONDocument(parsing: whole),
                isDeleted: document.value("deleted") == .bool(true))
        } catch {
            throw .malformed("a data value: \(error)")
        }
    }

    // MARK: What is sent

    /// The request that imports some values, all of one data set where the server wants that.
    func importing(values calls: [ServerCall]) throws(SyncFailure) -> ServerRequest {
        var elements: [[UInt8]] = []
        var sets: Set<JSONValue?> = []
        for call in calls {
            guard call.isAboutDataValue, let collection = call.collection, let write = call.write
            else { throw .client(status: 0, "data values have requests of their own") }
            _ = try known(collection)
            let key = try Dhis2ValueKey(write.id)
            guard let body = write.body else {
                elements.append(key.deletion)
                continue
            }
            let document: JSONDocument
            do { document = try JSONDocument(parsing: body) } catch {
                throw .client(status: 0, "a data value that is no object: \(error)")
            }
            let set = document.value("dataSet")
            sets.insert(set == .some(.null) ? .none : set)
            elements.append(try key.members(of: document))
        }
        guard !dialect.namesDataSets || sets.count < 2 else {
            throw .client(status: 0, "from 2.39 on DHIS2 takes values of one data set a request")
        }
        var body = Array("{".utf8)
        if dialect.namesDataSets, let set = sets.first ?? nil {
            body += Array("\"dataSet\":".utf8) + set.encoded() + Array(",".utf8)
        }
        body += Array("\"dataValues\":".utf8) + elements.jsonList + Array("}".utf8)
        return post("dataValueSets", body)
    }
}

/// What DHIS2 tells an aggregate data value by.
struct Dhis2ValueKey: Hashable {
    /// The fields, in the order of the id.
    static let fields = [
        "dataElement", "period", "orgUnit", "categoryOptionCombo", "attributeOptionCombo",
    ]

    /// The values of these fields.
    let parts: [String]

    init(parts: [String]) { self.parts = parts }

    /// Reads what ``id`` gave.
    ///
    /// - Throws: ``SyncFailure`` for any other text, which says what an id is made of.
    init(_ id: String) throws(SyncFailure) {
        parts = id.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == Self.fields.count, !parts.contains("") else {
            throw .client(
                status: 0,
                "the id of a data value is \(Self.fields.joined(separator: "-")), and \"\(id)\" "
                    + "is not; make it by Dhis2Adapter.id(dataElement:period:orgUnit:"
                    + "categoryOptionCombo:attributeOptionCombo:)")
        }
    }

    /// - Throws: ``SyncFailure`` for a value that lacks one of the fields.
    init(of document: JSONDocument) throws(SyncFailure) {
        var parts: [String] = []
        for field in Self.fields {
            guard let part = document.value(field)?.stringValue, !part.isEmpty,
                !part.contains("-")
            else { throw .malformed("a data value whose \"\(field)\" can't be in an id") }
            parts.append(part)
        }
        self.parts = parts
    }

    var id: String { parts.joined(separator: "-") }

    /// The value of a field; empty for one that is none of them.
    subscript(field: String) -> String {
        Self.fields.firstIndex(of: field).map { parts[$0] } ?? ""
    }

    /// The value as it is sent where it was deleted.
    var deletion: [UInt8] {
        var object = JSONObject()
        for (field, part) in zip(Self.fields, parts) { object[field] = .string(part) }
        object["deleted"] = true
        return JSONValue.object(object).encoded()
    }

    /// The members that stay here, or that the server sets: sent back they would stand for those of
    /// the new value.
    private static let unsent = ["id", "dataSet", "created", "lastUpdated", "storedBy", "deleted"]

    /// A value as it is sent, with all that it is told by.
    ///
    /// - Throws: ``SyncFailure`` where its fields say another id.
    func members(of document: JSONDocument) throws(SyncFailure) -> [UInt8] {
        var set: [(key: String, value: [UInt8])] = []
        for (field, part) in zip(Self.fields, parts) {
            switch document.value(field) {
            case .string(part): break
            case nil, .null: set.append((field, JSONValue.string(part).encoded()))
            case .some(let other):
                throw .client(
                    status: 0,
                    "\(field) is \(other), and the value's id says \"\(part)\": delete this value, "
                        + "and make another one")
            }
        }
        return document.applying(set: set, unset: Self.unsent)
    }
}

extension ServerCall {
    /// Whether it is a write of an aggregate data value, or several of them.
    var isAboutDataValue: Bool {
        write != nil && collection.map { Dhis2Kind($0.name) == .dataValues } ?? false
    }
}
