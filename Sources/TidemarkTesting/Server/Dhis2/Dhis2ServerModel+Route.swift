// Dhis2ServerModel+Route.swift — which method of which address does what.

import HTTPTypes
import TidemarkEvents
import TidemarkSync

extension Dhis2ServerModel {
    mutating func route(_ call: Dhis2Call) throws(Dhis2Rejection) -> TransportResponse {
        try checkVersion(call.path)
        switch (call.path, call.method) {
        case (.unknown, _): throw .noAddress
        case (.systemInfo, .get): return systemInfo(call.now)
        case (.me, .get): return me(call)
        case (.metadata(let resource), .get): return try metadataList(resource, call)
        case (.metadatum(let resource, let id), .get):
            return try metadatum(resource, id, call)
        case (.list(let kind, let generation), .get): return try list(kind, generation, call)
        case (.object(let kind, let generation, let id), .get):
            return try object(kind, generation, id, call)
        case (.list(let kind, .old), .post): return try importOld(kind, call)
        case (.object(let kind, .old, let id), .put): return try updateOld(kind, id, call)
        case (.object(let kind, .old, let id), .delete): return try deleteOld(kind, id, call)
        case (.tracker, .post): return try importTracker(call)
        case (.job(let id), .get): return job(id, call)
        case (.jobReport(let id), .get): return try jobReport(id, call)
        case (.override, .post): return try override(call)
        case (.transfer, .put): return try transfer(call)
        case (.requiredValues(let id), .get): return try requiredValues(id)
        case (.generate(let id), .get): return try generate(id, call)
        case (.reserve(let id), .get): return try reserve(id, call)
        case (.dataValueSets, .get): return try dataValueSet(call)
        case (.dataValueSets, .post): return try importDataValues(call)
        case (.registrations, .get): return try registrationList(call)
        case (.registrations, .post): return try register(call)
        case (.registrations, .delete): return try unregister(call)
        case (.fileResources, .post): return try take(call)
        case (.fileResource(let id), .get): return try fileResource(id)
        case (.fileData(let id), .get): return try fileData(id)
        case (.file(let kind, _, let id, let element), .get):
            return try file(of: kind, id, element, call)
        case (.eventFile, .get): return try eventFile(call)
        case (.systemInfo, _), (.me, _), (.metadata, _), (.metadatum, _), (.list, _),
            (.object, _), (.tracker, _), (.job, _), (.jobReport, _), (.override, _),
            (.transfer, _), (.requiredValues, _), (.generate, _), (.reserve, _),
            (.dataValueSets, _), (.registrations, _), (.fileResources, _), (.fileResource, _),
            (.fileData, _), (.file, _), (.eventFile, _):
            throw Dhis2Rejection(
                405, "Request method '\(call.method.rawValue)' is not supported")
        }
    }

    /// The old tracker API went with 2.42; the new one is here from 2.40 on.
    ///
    /// Ownership is the same in all versions.
    private func checkVersion(_ path: Dhis2Path) throws(Dhis2Rejection) {
        switch path {
        case .list(_, .old), .object(_, .old, _), .file(_, .old, _, _), .eventFile:
            if !version.hasOldTracker { throw .noAddress }
        case .list(_, .new), .object(_, .new, _), .tracker, .job, .jobReport:
            if !version.hasNewTracker { throw .noAddress }
        case .file(_, .new, _, _):
            if version < .v42 { throw .noAddress }
        case .systemInfo, .me, .metadata, .metadatum, .override, .transfer, .requiredValues,
            .generate, .reserve, .dataValueSets, .registrations, .fileResources, .fileResource,
            .fileData, .unknown:
            break
        }
    }

    /// `GET system/info`; what matters to nobody who syncs is the same in every answer.
    private func systemInfo(_ now: Timestamp) -> TransportResponse {
        let zone =
            hoursAheadOfUTC == 0
            ? "Etc/UTC" : "Etc/GMT\(hoursAheadOfUTC > 0 ? "-" : "+")\(hoursAheadOfUTC.magnitude)"
        return Dhis2Reply.json(
            200,
            [
                "contextPath": "http://127.0.0.1", "userAgent": "Tidemark", "calendar": "iso8601",
                "dateFormat": "yyyy-mm-dd", "serverDate": .string(time.text(now)),
                "serverTimeZoneId": .string(zone), "version": .string(version.text),
                "revision": "0000000", "buildTime": "2023-01-01T00:00:00.000",
                "environmentVariable": "DHIS2_HOME", "encryption": false,
                "systemId": "00000000-0000-4000-8000-000000000000", "systemName": "Tidemark",
                "isMetadataVersionEnabled": false, "isMetadataSyncEnabled": false,
            ])
    }

    /// `GET me`: the user with his units.
    private func me(_ call: Dhis2Call) -> TransportResponse {
        let user = call.user
        let units = { (ids: [String]) -> JSONValue in
            .array(ids.map { ["id": .string($0)] })
        }
        let authorities: JSONValue = user.isSuperuser ? ["ALL"] : []
        let object: JSONObject = [
            "id": .string(user.id), "username": .string(user.username),
            "name": .string(user.username), "displayName": .string(user.username),
            "organisationUnits": units(user.captureUnits),
            "teiSearchOrganisationUnits": units(user.searchUnits ?? []),
            "dataViewOrganisationUnits": [], "authorities": authorities,
            "userCredentials": ["username": .string(user.username)],
        ]
        return Dhis2Reply.json(200, .object(selected(object, call.query)))
    }

    /// What the parameter `fields` leaves of an object; all without it.
    func selected(_ object: JSONObject, _ query: Dhis2Query) -> JSONObject {
        query.text("fields").map { Dhis2Fields($0).only(object) } ?? object
    }
}
