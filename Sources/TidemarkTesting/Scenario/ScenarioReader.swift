// ScenarioReader.swift — reads steps, with errors that name the wrong member.

import Tidemark
import TidemarkEvents

/// Reads steps.
struct ScenarioReader {
    let server: ScenarioServerKind
    let model: SyncModel

    func steps(
        _ list: [(path: String, value: JSONValue)], inFlight: Bool = false
    ) throws(ScenarioError) -> [ScenarioStep] {
        var steps: [ScenarioStep] = []
        for (path, value) in list { steps.append(try step(value, at: path, inFlight)) }
        return steps
    }

    /// The kinds of steps by the member that names them, each with its other members.
    private static let kinds: [(name: String, others: [String])] = [
        ("create", ["document", "refused"]), ("edit", ["set", "unset", "refused"]),
        ("request", ["of", "parameters", "making", "refused"]),
        ("delete", ["refused"]), ("retry", ["refused"]), ("discard", ["withBuiltOn", "refused"]),
        ("answer", ["with", "refused"]),
        ("attach", ["field", "text", "refused"]),
        ("want", ["field", "by", "below", "wanted", "refused"]),
        ("relay", ["via", "confirmed", "refused"]),
        ("take", ["times", "refused"]), ("wipe", ["refused"]), ("transfer", ["refused"]),
        ("sweep", []), ("server", []), ("advance", []), ("deviceClock", []), ("serverDate", []),
        ("fault", []), ("answers", []),
        ("sync", ["trigger", "full", "overwriting", "deadline", "refused"]),
        ("show", []),
        ("restart", ["device"]), ("background", []), ("foreground", []), ("midnight", []),
        ("during", ["do"]), ("expect", []),
    ]
    /// The steps that can't happen during a sync run.
    private static let notInFlight = ["during", "answers"]

    private func step(
        _ value: JSONValue, at path: String, _ inFlight: Bool
    ) throws(ScenarioError) -> ScenarioStep {
        guard let object = value.object else { throw ScenarioError(path, "an object is needed") }
        guard let kind = Self.kinds.first(where: { object[$0.name] != nil }) else {
            let names = Self.kinds.map(\.name).joined(separator: ", ")
            throw ScenarioError(path, "a step is needed, one of \(names)")
        }
        let members = try ScenarioMembers(
            value, at: path, [kind.name] + kind.others + ["note"])
        _ = try members.text("note")
        guard !inFlight || !Self.notInFlight.contains(kind.name) else {
            throw ScenarioError(
                members.path(kind.name), "can't happen while a request is on its way")
        }
        return ScenarioStep(
            path: path, action: try action(kind.name, members),
            refused: try members.word("refused", TidemarkError.Code.self))
    }

    private func action(
        _ kind: String, _ members: ScenarioMembers
    ) throws(ScenarioError) -> ScenarioStep.Action {
        switch kind {
        case "create":
            return .create(
                try key(members, kind), try members.document("document") ?? [0x7B, 0x7D])
        case "edit": return .edit(try key(members, kind), try patch(members))
        case "delete": return .delete(try key(members, kind))
        case "request":
            return .request(
                try key(members, "of"), try members.neededText(kind), try parameters(members),
                making: try members.document("making"))
        case "retry": return .retry(try key(members, kind))
        case "discard":
            return .discard(
                try key(members, kind), withBuiltOn: try members.flag("withBuiltOn") ?? false)
        case "answer":
            guard let answer = try members.word("with", IssueAnswer.self) else {
                throw ScenarioError(members.path("with"), "is needed")
            }
            return .answer(try members.neededText(kind), answer)
        case "server":
            if let file = try serverFile(members) { return file }
            return .server(try edit(members))
        case "attach": return .attach(try attachment(members))
        case "take": return .take(try take(members))
        case "relay":
            return .relay(
                try key(members, kind), via: try members.text("via"),
                isConfirmed: try members.flag("confirmed") ?? false)
        case "wipe": return .wipe(try wipe(members))
        case "want": return .want(try wish(members))
        case "advance", "deviceClock", "serverDate":
            guard let duration = try members.duration(kind) else { break }
            return switch kind {
            case "advance": .advance(duration)
            case "deviceClock": .deviceClock(duration)
            default: .serverDate(duration)
            }
        case "fault": return .fault(try fault(members))
        case "answers": return .answers(try patterns(members))
        case "sync": return .sync(try sync(members))
        case "show":
            let name = try members.neededText(kind)
            let gates = model.settings.gates.map(\.name)
            guard gates.contains(name) else {
                throw ScenarioError(
                    members.path(kind),
                    "the model has no such gate; it has \(gates.joined(separator: ", "))")
            }
            return .sync(ScenarioSync(trigger: .named(name)))
        case "restart", "background", "foreground", "midnight", "transfer", "sweep":
            try members.requireTrue(kind)
            return switch kind {
            case "transfer": .transfer
            case "sweep": .sweep
            case "restart": .restart(ofDevice: try members.flag("device") ?? false)
            case "background": .background
            case "foreground": .foreground
            default: .midnight
            }
        case "during": return .during(try hook(members))
        default: break
        }
        return .expect(
            try ScenarioExpectation(
                try members.needed("expect"), at: members.path("expect"), model, server))
    }

    /// An entity of the model.
    func key(
        _ members: ScenarioMembers, _ name: String
    ) throws(ScenarioError) -> EntityKey {
        let key = try members.key(name)
        guard model[key.collection] != nil else {
            throw ScenarioError(
                members.path(name), "the model has no collection \(key.collection)")
        }
        return key
    }

    private func parameters(
        _ members: ScenarioMembers
    ) throws(ScenarioError) -> [String: String] {
        var parameters: [String: String] = [:]
        for (name, path, value) in try members.members("parameters") {
            guard let text = value.stringValue else {
                throw ScenarioError(path, "a text is needed")
            }
            parameters[name] = text
        }
        return parameters
    }

    private func patch(_ members: ScenarioMembers) throws(ScenarioError) -> Patch {
        var patch = Patch()
        if let set = try members.document("set"), let document = try? JSONDocument(parsing: set) {
            patch = Patch(settingAllOf: document)
        }
        for (path, item) in try members.list("unset") {
            guard let name = item.stringValue else {
                throw ScenarioError(path, "a field's name is needed")
            }
            patch.unset.append(name)
        }
        guard !patch.isEmpty else {
            throw ScenarioError(members.path, "set or unset is needed, with a field")
        }
        return patch
    }

    /// A file that the server has from now on, or where it takes them; nil for another edit.
    private func serverFile(
        _ members: ScenarioMembers
    ) throws(ScenarioError) -> ScenarioStep.Action? {
        let path = members.path("server")
        if members["server"]?["takeFiles"] != nil {
            let edit = try ScenarioMembers(
                try members.needed("server"), at: path, ["takeFiles"])
            return .serverTakesFiles(try Self.place("takeFiles", edit))
        }
        guard members["server"]?["file"] != nil else { return nil }
        let edit = try ScenarioMembers(
            try members.needed("server"), at: path, ["file", "text"])
        let place = try Self.place("file", edit)
        return .serverFile(place, try edit.text("text").map { Array($0.utf8) })
    }

    private static func place(
        _ name: String, _ edit: ScenarioMembers
    ) throws(ScenarioError) -> String {
        let place = try edit.neededText(name)
        guard place.hasPrefix("/") else {
            throw ScenarioError(edit.path(name), "a path from the server's root on is needed")
        }
        return place
    }

    private func edit(_ members: ScenarioMembers) throws(ScenarioError) -> ScenarioServerEdit {
        let path = members.path("server")
        let edit = try ScenarioMembers(
            try members.needed("server"), at: path,
            ["put", "document", "delete", "forget", "archive", "move", "to"])
        let names = ["put", "delete", "forget", "archive", "move"].filter { edit[$0] != nil }
        guard let name = names.first, names.count == 1 else {
            throw ScenarioError(
                path,
                "one of put, delete, forget, archive and move is needed, or file or takeFiles")
        }
        let key = try key(edit, name)
        if let problem = server.problem(with: key) { throw ScenarioError(edit.path(name), problem) }
        if name == "put" {
            guard let document = edit["document"], document.object != nil else {
                throw ScenarioError(edit.path("document"), "an object is needed")
            }
            try server.check(document, at: edit.path("document"))
            return .put(key, document)
        }
        guard edit["document"] == nil else {
            throw ScenarioError(edit.path("document"), "only put takes a document")
        }
        guard server.edits.contains(name) else {
            throw ScenarioError(edit.path(name), "such a server can't do this")
        }
        guard name != "archive" || key.collection == "projects" else {
            throw ScenarioError(edit.path(name), "only projects can be archived")
        }
        if name == "move" { return .move(key, to: try edit.neededText("to")) }
        return name == "delete" ? .delete(key) : name == "forget" ? .forget(key) : .archive(key)
    }

    private func fault(_ members: ScenarioMembers) throws(ScenarioError) -> ScenarioFault {
        let path = members.path("fault")
        let fault = try ScenarioMembers(
            try members.needed("fault"), at: path,
            ["request", "status", "retryAfter", "body", "drop", "offline", "skip", "times"])
        var result = ScenarioFault(
            path: path, request: ScenarioPattern(text: try fault.neededText("request")))
        guard ["status", "drop", "offline"].count(where: { fault[$0] != nil }) == 1 else {
            throw ScenarioError(path, "either status, drop or offline is needed")
        }
        result.drop = try fault.word("drop", ScenarioFault.Drop.self)
        if fault["offline"] != nil {
            try fault.requireTrue("offline")
            result.isOffline = true
        }
        result.status = try fault.integer("status", in: 200...599) ?? result.status
        result.retryAfter = try fault.integer("retryAfter", in: 0...1_000_000)
        result.body = fault["body"]
        result.skip = try fault.integer("skip", in: 0...100_000) ?? 0
        result.times = try fault.integer("times", in: 1...100_000) ?? Int.max
        return result
    }

    private func patterns(_ members: ScenarioMembers) throws(ScenarioError) -> [ScenarioPattern] {
        var patterns: [ScenarioPattern] = []
        for (path, item) in try members.list("answers") {
            guard let text = item.stringValue, !text.isEmpty else {
                throw ScenarioError(path, "a request is needed, as in \"GET /v1/*\"")
            }
            patterns.append(ScenarioPattern(text: text))
        }
        return patterns
    }

    private func sync(_ members: ScenarioMembers) throws(ScenarioError) -> ScenarioSync {
        var sync = ScenarioSync()
        let path = members.path("sync")
        switch try members.needed("sync") {
        case .string("all"): break
        case .string("push"): sync.scope = .push
        case .string("cleanUp"): sync.scope = .cleanUp
        case let value:
            guard value.object != nil else {
                throw ScenarioError(
                    path,
                    "\"all\", \"push\", \"cleanUp\", {\"pull\": [collection, …]}, "
                        + "{\"fetch\": [entity, …]}, {\"folders\": [folder, …]}, "
                        + "{\"select\": [part, …]} or {\"reserve\": [values, …]} is needed")
            }
            if value.object?["reserve"] != nil {
                sync.scope = .reserve(try reservations(value, at: path))
                break
            }
            if value.object?["select"] != nil {
                sync.scope = .select(try selections(value, at: path))
                break
            }
            if value.object?["folders"] != nil {
                sync.scope = .folders(try folders(value, at: path))
                break
            }
            if value.object?["fetch"] != nil {
                let fetch = try ScenarioMembers(value, at: path, ["fetch"])
                var keys: [EntityKey] = []
                for (path, item) in try fetch.list("fetch") {
                    guard let key = item.stringValue.flatMap({ EntityKey($0) }),
                        model[key.collection] != nil
                    else { throw ScenarioError(path, "an entity is needed, as in \"tasks/t1\"") }
                    keys.append(key)
                }
                guard !keys.isEmpty else { throw ScenarioError("\(path).fetch", "is needed") }
                sync.scope = .fetch(keys)
                break
            }
            var names: [CollectionName] = []
            let pull = try ScenarioMembers(value, at: path, ["pull"])
            for (path, item) in try pull.list("pull") {
                let name = CollectionName(item.stringValue ?? "")
                guard model[name] != nil else {
                    throw ScenarioError(path, "the name of a collection is needed")
                }
                names.append(name)
            }
            guard !names.isEmpty else { throw ScenarioError("\(path).pull", "is needed") }
            sync.scope = .pull(names)
        }
        sync.trigger = try members.word("trigger", SyncTrigger.self) ?? sync.trigger
        sync.mode = PullMode(
            isFull: try members.flag("full") ?? false,
            overwrites: try members.flag("overwriting") ?? false)
        sync.deadline = try members.duration("deadline")
        return sync
    }

    private func folders(
        _ value: JSONValue, at path: String
    ) throws(ScenarioError) -> [SyncScope.Folder] {
        var folders: [SyncScope.Folder] = []
        for (path, item) in try ScenarioMembers(value, at: path, ["folders"]).list("folders") {
            let text = item.stringValue ?? ""
            let folder =
                EntityKey(text).map { SyncScope.Folder($0) }
                ?? SyncScope.Folder(CollectionName(text))
            guard model[folder.collection] != nil else {
                throw ScenarioError(
                    path, "a folder is needed, as in \"files/docs\", of the root \"files\"")
            }
            folders.append(folder)
        }
        guard !folders.isEmpty else { throw ScenarioError("\(path).folders", "is needed") }
        return folders
    }

    private func selections(
        _ value: JSONValue, at path: String
    ) throws(ScenarioError) -> [SyncScope.Selection] {
        var parts: [SyncScope.Selection] = []
        for (path, item) in try ScenarioMembers(value, at: path, ["select"]).list("select") {
            let part = try ScenarioMembers(item, at: path, ["collection", "parameters", "limit"])
            let name = CollectionName(try part.neededText("collection"))
            guard model[name] != nil else {
                throw ScenarioError(part.path("collection"), "the name of a collection is needed")
            }
            var selection = SyncScope.Selection(name)
            if let given = part["parameters"] {
                guard let parameters = ListParameters(given) else {
                    throw ScenarioError(
                        part.path("parameters"), "an object of name to text is needed")
                }
                selection.parameters = parameters
            }
            selection.limit = try part.integer("limit", in: 1...1_000_000)
            parts.append(selection)
        }
        guard !parts.isEmpty else { throw ScenarioError("\(path).select", "is needed") }
        return parts
    }

    private func hook(_ members: ScenarioMembers) throws(ScenarioError) -> ScenarioHook {
        let path = members.path("during")
        let during = try ScenarioMembers(
            try members.needed("during"), at: path, ["request", "nth", "before"])
        let steps = try steps(try members.list("do"), inFlight: true)
        guard !steps.isEmpty else { throw ScenarioError(members.path("do"), "steps are needed") }
        return ScenarioHook(
            path: path, request: ScenarioPattern(text: try during.neededText("request")),
            nth: try during.integer("nth", in: 1...100_000) ?? 1,
            isBefore: try during.flag("before") ?? false, steps: steps)
    }
}
