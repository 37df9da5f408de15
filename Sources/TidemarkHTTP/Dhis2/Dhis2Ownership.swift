// Dhis2Ownership.swift — who owns a tracked entity in a program: actions of tracked entities.
//
//   override   {"program", "reason"}    POST api/tracker/ownership/override    access for a time
//   transfer   {"program", "orgUnit"}   PUT api/tracker/ownership/transfer     another unit owns it

import HTTPTypes
import TidemarkEvents
import TidemarkSync

extension Dhis2Adapter {
    /// What an action of a tracked entity needs, in the order of its address.
    private static let actions: [(name: String, parameters: [String])] = [
        ("override", ["program", "reason"]), ("transfer", ["program", "orgUnit"]),
    ]

    /// The request for an action.
    func ownership(
        _ collection: CollectionModel, _ id: String, _ action: String,
        _ parameters: [String: String]
    ) throws(SyncFailure) -> ServerRequest {
        guard try known(collection) == .trackedEntities,
            let known = Self.actions.first(where: { $0.name == action })
        else {
            let names = Self.actions.map(\.name).joined(separator: " and ")
            throw .client(
                status: 0,
                "DHIS2 has no action \(action) of \(collection.name); it has \(names) of "
                    + "trackedEntities")
        }
        guard Set(parameters.keys) == Set(known.parameters) else {
            throw .client(
                status: 0,
                "\(action) needs the parameters \(known.parameters.joined(separator: " and "))")
        }
        var query = "\(dialect.idField(of: .trackedEntities))=\(ServerRequest.percentEncoded(id))"
        for name in known.parameters {
            let word = name == "orgUnit" && dialect.minor < 42 ? "ou" : name
            query += "&\(word)=\(ServerRequest.percentEncoded(parameters[name] ?? ""))"
        }
        return ServerRequest(
            method: action == "override" ? .post : .put,
            path: "/api/tracker/ownership/\(action)?\(query)")
    }

    /// What the answer to an action means; nil where that is what it means of any call.
    func asked(of id: String, _ status: Int, _ body: [UInt8]) -> ServerAnswer? {
        if status == 200 { return .stored(id: id, nil) }
        let message = JSON.value("message", of: body)?.stringValue ?? ""
        guard [400, 403, 404, 409].contains(status) || Self.isDenial(status, message) else {
            return nil
        }
        let words = message.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return .refused(ServerRefusal(status: status, message: String(words.prefix(200))))
    }
}
