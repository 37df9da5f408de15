// Dhis2DataValues.swift — aggregate data values, listed and imported as sets.
//
// From 2.38 on a summary stands in a web message and its conflicts say which values they are
// about, by index; before that it stands alone. Periods are not looked at beyond their form.

import TidemarkEvents
import TidemarkSync

/// A value of a data element in a period and a unit.
struct Dhis2DataValue: Sendable, Hashable {
    struct Key: Sendable, Hashable {
        var dataElement: String
        var period: String
        var orgUnit: String
        var categoryOptionCombo: String
        var attributeOptionCombo: String
    }

    var key: Key
    var sequence: Int64
    var value: String
    var comment: String?
    var isFollowedUp = false
    var isDeleted = false
    var storedBy: String
    var created: Timestamp
    var lastUpdated: Timestamp
}

extension Dhis2DataValue {
    /// What the list of data values is called where rows are put.
    static let list = "dataValues"
}

extension Dhis2DataValue.Key {
    /// What a row of data values is told by, with hyphens between; nil for anything else.
    init?(_ list: String, _ id: String) {
        let parts = id.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard list == Dhis2DataValue.list, parts.count == 5, !parts.contains("") else {
            return nil
        }
        self.init(
            dataElement: parts[0], period: parts[1], orgUnit: parts[2],
            categoryOptionCombo: parts[3], attributeOptionCombo: parts[4])
    }

    /// It as the members of a data value.
    var members: JSONObject {
        [
            "dataElement": .string(dataElement), "period": .string(period),
            "orgUnit": .string(orgUnit), "categoryOptionCombo": .string(categoryOptionCombo),
            "attributeOptionCombo": .string(attributeOptionCombo),
        ]
    }
}

/// What is wrong with a data value.
struct Dhis2DataConflict: Sendable, Hashable {
    var code: String
    var property: String
    /// The id to which the property refers, or the data element of a wrong value.
    var object: String
    var message: String
    /// The value that is wrong in itself.
    var value: String?
    var indexes: [Int]
}

extension Dhis2ServerModel {
    /// The combination of those that have no categories.
    static let usualCombo = "HllvX50cXC0"

    // MARK: Lists

    /// `GET dataValueSets`: values of data sets, periods and units.
    func dataValueSet(_ call: Dhis2Call) throws(Dhis2Rejection) -> TransportResponse {
        let query = call.query
        let sets = query.list("dataSet")
        // Earlier versions know no such parameter.
        let elements = version < .v40 ? [] : query.list("dataElement")
        guard !sets.isEmpty || !elements.isEmpty else {
            throw Dhis2Rejection(409, "At least one data set must be specified", code: "E2001")
        }
        let units = query.list("orgUnit")
        guard !units.isEmpty else {
            throw Dhis2Rejection(
                409, "At least one organisation unit must be specified", code: "E2006")
        }
        let periods = query.list("period")
        let since = query.text("lastUpdated").flatMap(time.parse)
        let hasTime = query.text("startDate", "lastUpdated", "lastUpdatedDuration") != nil
        guard !periods.isEmpty || hasTime else {
            throw Dhis2Rejection(
                409, "At least one period, start/end dates or last updated must be specified",
                code: "E2002")
        }
        let wanted = Set(elements + sets.flatMap(self.elements))
        let hasDeleted = query.flag("includeDeleted") ?? false
        let hasChildren = query.flag("children") ?? false
        let found = dataValues.values.filter { value in
            wanted.contains(value.key.dataElement) && (hasDeleted || !value.isDeleted)
                && (periods.isEmpty || periods.contains(value.key.period))
                && since.map { value.lastUpdated >= $0 } ?? true
                && units.contains {
                    hasChildren ? isUnit(value.key.orgUnit, below: $0) : value.key.orgUnit == $0
                } && isInSearchScope(value.key.orgUnit, call.user)
        }.sorted { $0.sequence < $1.sequence }
        var answer = JSONObject()
        if sets.count == 1 { answer["dataSet"] = .string(sets[0]) }
        let isOne = sets.count == 1 && units.count == 1 && periods.count == 1
        if isOne { describe(&answer, set: sets[0], period: periods[0], unit: units[0]) }
        if !isOne || !found.isEmpty {
            answer["dataValues"] = .array(found.map { .object(wire($0)) })
        }
        return Dhis2Reply.json(200, .object(answer))
    }

    /// What a set of one period and one unit says of itself; without values it has no list of them.
    private func describe(
        _ answer: inout JSONObject, set: String, period: String, unit: String
    ) {
        let key = Dhis2Registration.Key(dataSet: set, period: period, organisationUnit: unit)
        if let registration = registrations[key], registration.isCompleted {
            answer["completeDate"] = .string(time.zoned(registration.date))
        }
        answer["period"] = .string(period)
        answer["orgUnit"] = .string(unit)
    }

    private func elements(of set: String) -> [String] {
        metadatum("dataSets", set)?.references("dataSetElements", by: "dataElement") ?? []
    }

    func wire(_ value: Dhis2DataValue) -> JSONObject {
        var object = value.key.members
        object["value"] = .string(value.value)
        object["storedBy"] = .string(value.storedBy)
        object["created"] = .string(time.zoned(value.created))
        object["lastUpdated"] = .string(time.zoned(value.lastUpdated))
        if let comment = value.comment { object["comment"] = .string(comment) }
        object["followup"] = .bool(value.isFollowedUp)
        if value.isDeleted { object["deleted"] = true }
        return object
    }

    // MARK: Imports

    /// `POST dataValueSets`: values one by one; what is wrong is left out.
    mutating func importDataValues(_ call: Dhis2Call) throws(Dhis2Rejection) -> TransportResponse {
        let sent = try body(call.body)
        let strategy = try strategy(call.query.text("importStrategy", "strategy"), .createAndUpdate)
        var conflicts: [Dhis2DataConflict] = []
        var outcomes: [Dhis2Outcome] = []
        let set = sent["dataSet"]?.stringValue
        if let set, metadatum("dataSets", set) == nil {
            conflicts.append(
                Dhis2DataConflict(
                    code: "E7600", property: "dataSet", object: set,
                    message: "Data set not found or not accessible: `\(set)`", indexes: []))
        } else {
            for (index, item) in (sent["dataValues"]?.array ?? []).enumerated() {
                let object = item.object ?? JSONObject()
                let key = key(of: object, in: sent)
                if let conflict = conflict(object, key, set, index, call.user) {
                    add(conflict, to: &conflicts)
                    outcomes.append(.ignored)
                } else {
                    outcomes.append(keep(object, key, strategy, call))
                }
            }
            complete(sent, set, call)
        }
        return summary(strategy, conflicts, outcomes, isRefused: set != nil && outcomes.isEmpty)
    }

    func key(of object: JSONObject, in set: JSONObject) -> Dhis2DataValue.Key {
        let text = { (member: String) in
            object[member]?.stringValue ?? set[member]?.stringValue
        }
        return Dhis2DataValue.Key(
            dataElement: text("dataElement") ?? "", period: text("period") ?? "",
            orgUnit: text("orgUnit") ?? "",
            categoryOptionCombo: text("categoryOptionCombo") ?? Self.usualCombo,
            attributeOptionCombo: text("attributeOptionCombo") ?? Self.usualCombo)
    }

    /// Values with the same thing wrong share a conflict.
    private func add(_ conflict: Dhis2DataConflict, to list: inout [Dhis2DataConflict]) {
        let same = list.firstIndex {
            $0.code == conflict.code && $0.object == conflict.object
                && $0.value == conflict.value && $0.message == conflict.message
        }
        if let same { list[same].indexes += conflict.indexes } else { list.append(conflict) }
    }

    private func conflict(
        _ object: JSONObject, _ key: Dhis2DataValue.Key, _ set: String?, _ index: Int,
        _ user: Dhis2User
    ) -> Dhis2DataConflict? {
        let conflict = { (code: String, property: String, object: String, message: String) in
            Dhis2DataConflict(
                code: code, property: property, object: object, message: message,
                indexes: [index])
        }
        guard let element = metadatum("dataElements", key.dataElement) else {
            return conflict(
                "E7610", "dataElement", key.dataElement,
                "Data element not found or not accessible: `\(key.dataElement)`")
        }
        guard Self.isPeriod(key.period) else {
            return conflict("E7611", "period", key.period, "Period not valid: `\(key.period)`")
        }
        guard metadatum("organisationUnits", key.orgUnit) != nil else {
            return conflict(
                "E7612", "orgUnit", key.orgUnit,
                "Organisation unit not found or not accessible: `\(key.orgUnit)`")
        }
        guard isKnownCombo(key.categoryOptionCombo) else {
            return conflict(
                "E7613", "categoryOptionCombo", key.categoryOptionCombo,
                "Category option combo not found or not accessible for writing data: "
                    + "`\(key.categoryOptionCombo)`")
        }
        guard isKnownCombo(key.attributeOptionCombo) else {
            return conflict(
                "E7615", "attributeOptionCombo", key.attributeOptionCombo,
                "Attribute option combo not found or not accessible for writing data: "
                    + "`\(key.attributeOptionCombo)`")
        }
        guard isInCaptureScope(key.orgUnit, user) else {
            return conflict(
                "E7617", "orgUnit", key.orgUnit,
                "Organisation unit: `\(key.orgUnit)` not in hierarchy of current user: "
                    + "`\(user.username)`")
        }
        if object["deleted"]?.boolValue == true { return nil }
        guard let value = object["value"]?.stringValue, !value.isEmpty else {
            return conflict(
                "E7618", "value", key.dataElement,
                "Data value or comment not specified for data element: `\(key.dataElement)`")
        }
        let rule = valueRules.first {
            $0.element == element.id && ($0.value == nil || $0.value == value)
        }
        let type = Dhis2ValueType(name: element.text("valueType") ?? "TEXT")
        guard let words = type.problem(value, time)?.words ?? rule?.message else { return nil }
        var wrong = conflict(
            "E7619", "value", element.id,
            version == .v37
                ? "\(words), must match data element type: \(element.id)"
                : "Value must match data element's `\(element.id)` type constraints: \(words)")
        wrong.value = value
        return wrong
    }

    /// A year with whatever follows it: `2017`, `201712`, `2019W43`, `2021Q1`.
    private static func isPeriod(_ text: String) -> Bool {
        text.utf8.count >= 4 && text.utf8.prefix(4).allSatisfy { (0x30...0x39).contains($0) }
            && text.utf8.allSatisfy { $0 != 0x20 }
    }

    /// Combinations are only looked up where some were put.
    private func isKnownCombo(_ id: String) -> Bool {
        id == Self.usualCombo || (metadata["categoryOptionCombos"] ?? []).isEmpty
            || metadatum("categoryOptionCombos", id) != nil
    }

    mutating func keep(
        _ object: JSONObject, _ key: Dhis2DataValue.Key, _ strategy: Dhis2Strategy,
        _ call: Dhis2Call
    ) -> Dhis2Outcome {
        let known = dataValues[key]
        let isThere = known.map { !$0.isDeleted } ?? false
        if strategy == .delete || object["deleted"]?.boolValue == true {
            guard isThere, var value = known else { return .ignored }
            value.isDeleted = true
            value.lastUpdated = call.now
            dataValues[key] = value
            return .deleted
        }
        if strategy == .create && isThere || strategy == .update && !isThere { return .ignored }
        var value =
            known
            ?? Dhis2DataValue(
                key: key, sequence: nextNumber(), value: "", storedBy: call.user.username,
                created: call.now, lastUpdated: call.now)
        value.value = object["value"]?.stringValue ?? ""
        value.comment = object["comment"]?.stringValue ?? value.comment
        value.isFollowedUp = object["followup"]?.boolValue ?? value.isFollowedUp
        value.isDeleted = false
        value.storedBy = call.user.username
        value.lastUpdated = call.now
        dataValues[key] = value
        return isThere ? .updated : .created
    }

    /// A set with a date of completion registers it.
    private mutating func complete(_ sent: JSONObject, _ set: String?, _ call: Dhis2Call) {
        guard let set, sent["completeDate"]?.stringValue != nil,
            let period = sent["period"]?.stringValue, let unit = sent["orgUnit"]?.stringValue
        else { return }
        keep(Dhis2Registration.Key(dataSet: set, period: period, organisationUnit: unit), call)
    }

    private func summary(
        _ strategy: Dhis2Strategy, _ conflicts: [Dhis2DataConflict], _ outcomes: [Dhis2Outcome],
        isRefused: Bool
    ) -> TransportResponse {
        let status =
            conflicts.isEmpty ? "SUCCESS" : isRefused ? "ERROR" : "WARNING"
        var summary: JSONObject = [
            "responseType": "ImportSummary", "status": .string(status),
            "importOptions": .object(Dhis2Summary.options(strategy)),
            "description": .string(
                status == "ERROR"
                    ? "The import process failed" : "Import process completed successfully"),
            "importCount": Dhis2Summary.count(outcomes),
            "conflicts": .array(conflicts.map { .object(json($0)) }),
            "dataSetComplete": "false",
        ]
        if version == .v37 { return Dhis2Reply.json(200, .object(summary)) }
        let indexes = conflicts.flatMap(\.indexes).sorted()
        if !indexes.isEmpty {
            summary["rejectedIndexes"] = .array(indexes.map { .integer(Int64($0)) })
        }
        return Dhis2Reply.message(around: summary)
    }

    private func json(_ conflict: Dhis2DataConflict) -> JSONObject {
        var object: JSONObject = ["object": .string(conflict.object)]
        if version > .v37 {
            var objects = JSONObject()
            if conflict.property == "value" {
                objects["dataElement"] = .string(conflict.object)
                objects["value"] = conflict.value.map { .string($0) }
            } else {
                objects[conflict.property] = .string(conflict.object)
            }
            object["objects"] = .object(objects)
        }
        object["value"] = .string(conflict.message)
        guard version > .v37 else { return object }
        object["errorCode"] = .string(conflict.code)
        object["property"] = .string(conflict.property)
        if !conflict.indexes.isEmpty {
            object["indexes"] = .array(conflict.indexes.map { .integer(Int64($0)) })
        }
        return object
    }
}
