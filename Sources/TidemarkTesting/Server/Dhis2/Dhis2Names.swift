// Dhis2Names.swift — the names of the old tracker API and of the new one.
//
// Objects are kept by the new names; the old API is translated on its way in and out.

import TidemarkEvents

enum Dhis2Names {
    /// What members of every object are called, new name first.
    private static let common = [
        ("trackedEntity", "trackedEntityInstance"), ("createdAt", "created"),
        ("updatedAt", "lastUpdated"), ("updatedAtClient", "lastUpdatedAtClient"),
        ("completedAt", "completedDate"), ("storedAt", "storedDate"),
        ("trackedEntities", "trackedEntityInstances"),
    ]

    private static let ofEnrollments = [
        ("enrolledAt", "enrollmentDate"), ("occurredAt", "incidentDate"), ("followUp", "followup"),
    ]

    private static let ofEvents = [
        ("occurredAt", "eventDate"), ("scheduledAt", "dueDate"), ("followUp", "followup"),
    ]

    /// An object of the new API in the old one's names, with all that is in it.
    static func old(_ object: JSONObject, _ kind: Dhis2Kind) -> JSONObject {
        renamed(object, Pairs(kind, { $0 }), isToOld: true)
    }

    /// An object of the old API in the new one's names, with all that is in it.
    static func new(_ object: JSONObject, _ kind: Dhis2Kind) -> JSONObject {
        renamed(object, Pairs(kind, { ($0.1, $0.0) }), isToOld: false)
    }

    private struct Pairs {
        var names: [(String, String)]

        init(_ kind: Dhis2Kind, _ turn: ((String, String)) -> (String, String)) {
            let own =
                switch kind {
                case .enrollments: Dhis2Names.ofEnrollments
                case .events: Dhis2Names.ofEvents
                case .trackedEntities, .relationships: [(String, String)]()
                }
            names = (Dhis2Names.common + own).map(turn)
        }

        func name(_ old: String) -> String { names.first { $0.0 == old }?.1 ?? old }
    }

    private static func renamed(
        _ object: JSONObject, _ pairs: Pairs, isToOld: Bool
    ) -> JSONObject {
        var result = JSONObject()
        for (key, value) in object {
            if key == "programOwners" {
                result[key] = owners(value, isToOld: isToOld)
                continue
            }
            result[pairs.name(key)] = renamed(value, key, pairs, isToOld: isToOld)
        }
        return result
    }

    private static func renamed(
        _ value: JSONValue, _ key: String, _ pairs: Pairs, isToOld: Bool
    ) -> JSONValue {
        let child = Dhis2Kind.allCases.first { $0.rawValue == key || $0.oldName == key }
        if key == "geometry" { return value }
        if let list = value.array {
            return .array(list.map { renamed($0, key, pairs, isToOld: isToOld) })
        }
        guard let object = value.object else { return value }
        guard let child else { return .object(renamed(object, pairs, isToOld: isToOld)) }
        return .object(isToOld ? old(object, child) : new(object, child))
    }

    /// The units of owners are called `ownerOrgUnit` in the old API.
    private static func owners(_ value: JSONValue, isToOld: Bool) -> JSONValue {
        let names = [("orgUnit", "ownerOrgUnit"), ("trackedEntity", "trackedEntityInstance")]
            .map { isToOld ? $0 : ($0.1, $0.0) }
        return .array(
            (value.array ?? []).compactMap(\.object).map { owner in
                var result = JSONObject()
                for (key, value) in owner {
                    result[names.first { $0.0 == key }?.1 ?? key] = value
                }
                return .object(result)
            })
    }
}
