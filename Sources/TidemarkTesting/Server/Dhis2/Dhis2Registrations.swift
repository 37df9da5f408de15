// Dhis2Registrations.swift — which data sets are complete.

import TidemarkEvents
import TidemarkSync

/// That a data set is complete, or is not any more.
struct Dhis2Registration: Sendable, Hashable {
    struct Key: Sendable, Hashable {
        var dataSet: String
        var period: String
        var organisationUnit: String
        var attributeOptionCombo = Dhis2ServerModel.usualCombo
    }

    var key: Key
    var sequence: Int64
    var date: Timestamp
    var lastUpdated: Timestamp
    var storedBy: String
    var isCompleted: Bool
}

extension Dhis2ServerModel {
    /// `GET completeDataSetRegistrations`: those of data sets, periods and units.
    func registrationList(_ call: Dhis2Call) throws(Dhis2Rejection) -> TransportResponse {
        let query = call.query
        let (sets, units) = (query.list("dataSet"), query.list("orgUnit"))
        guard !sets.isEmpty else {
            throw Dhis2Rejection(409, "At least one data set must be specified", code: "E2013")
        }
        guard !units.isEmpty else {
            throw Dhis2Rejection(
                409, "At least one organisation unit must be specified", code: "E2014")
        }
        let periods = query.list("period")
        let since = query.text("lastUpdated", "created").flatMap(time.parse)
        let hasChildren = query.flag("children") ?? false
        let found = registrations.values.filter { item in
            sets.contains(item.key.dataSet)
                && (periods.isEmpty || periods.contains(item.key.period))
                && since.map { item.lastUpdated >= $0 } ?? true
                && units.contains {
                    hasChildren
                        ? isUnit(item.key.organisationUnit, below: $0)
                        : item.key.organisationUnit == $0
                } && isInSearchScope(item.key.organisationUnit, call.user)
        }.sorted { $0.sequence < $1.sequence }
        let rows = found.map { item -> JSONValue in
            [
                "period": .string(item.key.period), "dataSet": .string(item.key.dataSet),
                "organisationUnit": .string(item.key.organisationUnit),
                "attributeOptionCombo": .string(item.key.attributeOptionCombo),
                "date": .string(time.zoned(item.date)), "storedBy": .string(item.storedBy),
                "lastUpdated": .string(time.zoned(item.lastUpdated)),
                "completed": .bool(item.isCompleted),
            ]
        }
        return Dhis2Reply.json(200, ["completeDataSetRegistrations": .array(rows)])
    }

    /// `POST completeDataSetRegistrations`; with `"completed":false` it is taken back.
    mutating func register(_ call: Dhis2Call) throws(Dhis2Rejection) -> TransportResponse {
        let sent = try body(call.body)
        var outcomes: [Dhis2Outcome] = []
        var conflicts: [JSONValue] = []
        for item in sent["completeDataSetRegistrations"]?.array ?? [] {
            let text = { (member: String) in item[member]?.stringValue ?? "" }
            var key = Dhis2Registration.Key(
                dataSet: text("dataSet"), period: text("period"),
                organisationUnit: text("organisationUnit"))
            if let combo = item["attributeOptionCombo"]?.stringValue {
                key.attributeOptionCombo = combo
            }
            if let words = problem(key, call.user) {
                conflicts.append(["object": .string(words.0), "value": .string(words.1)])
                outcomes.append(.ignored)
                continue
            }
            outcomes.append(registrations[key] == nil ? .created : .updated)
            keep(key, call, isCompleted: item["completed"]?.boolValue ?? true)
        }
        return Dhis2Reply.message(
            around: [
                "responseType": "ImportSummary",
                "status": .string(conflicts.isEmpty ? "SUCCESS" : "WARNING"),
                "importOptions": .object(Dhis2Summary.options(.createAndUpdate)),
                "description": "Import process completed successfully",
                "importCount": Dhis2Summary.count(outcomes), "conflicts": .array(conflicts),
            ])
    }

    /// What a registration refers to wrongly, and the words for it.
    private func problem(
        _ key: Dhis2Registration.Key, _ user: Dhis2User
    ) -> (String, String)? {
        if metadatum("dataSets", key.dataSet) == nil {
            return (key.dataSet, "Data set not found or not accessible")
        }
        if metadatum("organisationUnits", key.organisationUnit) == nil {
            return (key.organisationUnit, "Organisation unit not found or not accessible")
        }
        guard isInCaptureScope(key.organisationUnit, user) else {
            return (
                key.organisationUnit, "Organisation unit not in hierarchy of user \(user.username)"
            )
        }
        return nil
    }

    /// `DELETE completeDataSetRegistrations?ds=…&pe=…&ou=…`: no trace of it stays.
    mutating func unregister(_ call: Dhis2Call) throws(Dhis2Rejection) -> TransportResponse {
        let query = call.query
        let (sets, periods) = (query.list("ds", "dataSet"), query.list("pe", "period"))
        let units = query.list("ou", "orgUnit")
        for (name, list) in [("ds", sets), ("pe", periods), ("ou", units)] where list.isEmpty {
            throw Dhis2Rejection(400, "Required request parameter '\(name)' is not present")
        }
        for set in sets {
            for period in periods {
                for unit in units {
                    let key = Dhis2Registration.Key(
                        dataSet: set, period: period, organisationUnit: unit)
                    registrations[key] = nil
                }
            }
        }
        return Dhis2Reply.empty(204)
    }

    mutating func keep(
        _ key: Dhis2Registration.Key, _ call: Dhis2Call, isCompleted: Bool = true
    ) {
        let known = registrations[key]
        registrations[key] = Dhis2Registration(
            key: key, sequence: known?.sequence ?? nextNumber(), date: known?.date ?? call.now,
            lastUpdated: call.now, storedBy: call.user.username, isCompleted: isCompleted)
    }
}
