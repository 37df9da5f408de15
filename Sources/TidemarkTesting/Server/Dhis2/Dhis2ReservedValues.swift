// Dhis2ReservedValues.swift — values of attributes that are generated, each for one client alone.

import TidemarkEvents
import TidemarkSync

/// What was reserved so far.
struct Dhis2Reservations: Sendable {
    /// Values of a pattern are counted on their own for each unit and day.
    struct Key: Sendable, Hashable {
        var attribute: String
        var unitCode: String
        var day: String
    }

    /// How many values of a key were given away.
    var given: [Key: Int64] = [:]
}

extension Dhis2ServerModel {
    /// The most values that one request reserves; what a real server says of more is not known.
    private static let valuesMax = 1000

    private func pattern(_ id: String) throws(Dhis2Rejection) -> (Dhis2Pattern, String) {
        guard let attribute = metadatum("trackedEntityAttributes", id) else {
            throw .missing("TrackedEntityAttribute", id)
        }
        guard attribute.flag("generated"), let text = attribute.text("pattern"),
            let pattern = Dhis2Pattern(text)
        else {
            throw Dhis2Rejection(409, "Attribute \(id) does not have a valid pattern to generate.")
        }
        return (pattern, text)
    }

    /// `GET …/requiredValues`: what a client must and may say to get values.
    func requiredValues(_ id: String) throws(Dhis2Rejection) -> TransportResponse {
        let (pattern, _) = try pattern(id)
        let list = { (names: [String]) in JSONValue.array(names.map { .string($0) }) }
        return Dhis2Reply.json(
            200, ["REQUIRED": list(pattern.required), "OPTIONAL": list(pattern.optional)])
    }

    /// `GET …/generate`: one value for three days.
    mutating func generate(
        _ id: String, _ call: Dhis2Call
    ) throws(Dhis2Rejection) -> TransportResponse {
        let values = try reserved(id, 1, days: 3, call)
        return Dhis2Reply.json(200, values.first ?? .null)
    }

    /// `GET …/generateAndReserve`: values that nobody else gets, for 60 days unless told.
    mutating func reserve(
        _ id: String, _ call: Dhis2Call
    ) throws(Dhis2Rejection) -> TransportResponse {
        let count = try call.query.count("numberToReserve") ?? 1
        let days = try call.query.count("expiration") ?? 60
        return Dhis2Reply.json(200, .array(try reserved(id, count, days: days, call)))
    }

    private mutating func reserved(
        _ id: String, _ count: Int, days: Int, _ call: Dhis2Call
    ) throws(Dhis2Rejection) -> [JSONValue] {
        let (pattern, text) = try pattern(id)
        guard count <= Self.valuesMax else {
            throw Dhis2Rejection(409, "You can only reserve \(Self.valuesMax) values at a time.")
        }
        let code = call.query.text("ORG_UNIT_CODE")
        guard pattern.required.isEmpty || code != nil else {
            throw Dhis2Rejection(409, "Missing required values: ORG_UNIT_CODE")
        }
        let isDated = pattern.segments.contains { if case .date = $0 { true } else { false } }
        let day = time.day(call.now)
        let key = Dhis2Reservations.Key(
            attribute: id, unitCode: code ?? "", day: isDated ? day : "")
        var next = reservations.given[key] ?? 0
        var values: [JSONValue] = []
        while values.count < count, next < pattern.capacity {
            let value = pattern.value(next, unitCode: code ?? "", day: day)
            next += 1
            guard !isUsed(value, of: id) else { continue }
            values.append([
                "ownerObject": "TRACKEDENTITYATTRIBUTE", "ownerUid": .string(id),
                "key": .string(text), "value": .string(value),
                "created": .string(time.text(call.now)),
                "expiryDate": .string(time.text(call.now.adding(seconds: Int64(days) * 86_400))),
            ])
        }
        guard values.count == count else {
            throw Dhis2Rejection(
                409, "Unable to reserve \(count) values: not enough values left in \(text).")
        }
        reservations.given[key] = next
        return values
    }

    private func isUsed(_ value: String, of attribute: String) -> Bool {
        (rows[.trackedEntities] ?? [:]).values.contains { $0.value(of: attribute) == value }
    }
}
