// ShrinkFields.swift — removes fields of documents and shortens values. What a request or a
// verbatim answer holds stays, since the history would contradict itself otherwise.

import TidemarkCapsule
import TidemarkEvents
import TidemarkLog
import TidemarkViews

extension Shrinker {
    /// Removes fields of documents, and shortens the values of the others.
    mutating func shrinkFields() throws {
        let model = try current.fold.read { try $0.model() }
        let open = openEvents()
        func fields(_ shrinker: Shrinker) -> Int {
            open.reduce(0) { sum, index in
                sum + PayloadFields(shrinker.source.entries[index].event, model).names.count
            }
        }
        let before = fields(self)
        report(.fields, before: before, now: before)
        defer { report(.fields, before: before, now: fields(self)) }

        // First a field in all entities of a collection, then all fields of one entity, then single
        // fields.
        var everywhere: [CollectionName: [String: [Int]]] = [:]
        for index in open {
            let event = source.entries[index].event
            for name in PayloadFields(event, model).names {
                everywhere[event.collection ?? "", default: [:]][name, default: []].append(index)
            }
        }
        for (_, names) in everywhere.sorted(by: { $0.key < $1.key }) {
            for (name, indexes) in names.sorted(by: { $0.key < $1.key }) {
                try change(indexes) { PayloadFields($0, model).without([name]) }
            }
        }
        for index in open where source.entries[index].event.kind == .pullPage {
            try shrinkPage(index)
        }
        for index in open {
            let names = PayloadFields(source.entries[index].event, model).names
            if try change([index], { PayloadFields($0, model).without(Set(names)) }) { continue }
            for name in names {
                try change([index]) { PayloadFields($0, model).without([name]) }
            }
        }
        for index in open {
            for name in PayloadFields(source.entries[index].event, model).names {
                while let value = PayloadFields(source.entries[index].event, model).value(name) {
                    var isShorter = false
                    for shorter in Self.shorter(value) where !isShorter {
                        isShorter = try change([index]) {
                            PayloadFields($0, model).with(name, shorter)
                        }
                    }
                    guard isShorter else { break }
                }
            }
        }
    }

    /// Removes entities from a page that have nothing new in it.
    private mutating func shrinkPage(_ index: Int) throws {
        let known = HistoryRules.known(in: source.entries[index].event)
        guard try !change([index], { HistoryRules.page($0, without: Set(known))?.payload }) else {
            return
        }
        for place in known.reversed() {
            try change([index]) { HistoryRules.page($0, without: Set([place]))?.payload }
        }
    }

    /// The events whose documents occur nowhere else in the log.
    private func openEvents() -> [Int] {
        var sent: Set<Position> = []
        var answers: Set<Position> = []
        for index in current.indexes {
            let event = source.entries[index].event
            if event.kind == .requestSent {
                sent.formUnion(HistoryRules.covered(by: event))
                if let mutation = event.mutation { sent.insert(mutation) }
            }
            if event.namedBody != nil, let call = event.call { answers.insert(call) }
        }
        return current.indexes.filter { index in
            let entry = source.entries[index]
            switch entry.event.cut {
            case .unlessSent: return !sent.contains(entry.position)
            case .unlessKept: return entry.event.call.map { !answers.contains($0) } ?? true
            case .nothing: return false
            }
        }
    }

    /// Tries other payloads for some events; nil keeps the payload.
    @discardableResult
    private mutating func change(
        _ indexes: [Int], _ payload: (Event) -> [UInt8]?
    ) throws -> Bool {
        let old = indexes.map { source.entries[$0].event.payload }
        var isOther = false
        for index in indexes {
            let event = source.entries[index].event
            guard let new = payload(event), new != event.payload else { continue }
            source.entries[index].event.payload = new
            isOther = true
        }
        guard isOther else { return false }
        func restore() {
            for (index, payload) in zip(indexes, old) {
                source.entries[index].event.payload = payload
            }
        }
        do {
            try checkGoingOn()
            var trial = ShrinkHistory(source)
            try trial.add(current.indexes, source, goesOn: checkGoingOn)
            tries += 1
            if trial.indexes == current.indexes, try judge(trial) == signature {
                current = trial
                passed = []
                return true
            }
            restore()
            return false
        } catch {
            restore()
            throw error
        }
    }

    /// Shorter values, the shortest first.
    private static func shorter(_ value: JSONValue) -> [JSONValue] {
        switch value {
        case .null, .bool: return []
        case .number(let number): return number.int64 == 0 ? [] : [0]
        case .string(let text):
            guard !text.isEmpty else { return [] }
            return [
                "", .string(String(text.prefix(1))), .string(String(text.prefix(text.count / 2))),
            ]
            .filter { $0 != value }
        case .array(let values):
            guard !values.isEmpty else { return [] }
            return [
                .array([]), .array(Array(values.prefix(values.count / 2))),
                .array(Array(values.dropLast())), .array(Array(values.dropFirst())),
            ].filter { $0 != value }
        case .object(let object): return object.isEmpty ? [] : [.object(JSONObject())]
        }
    }
}

/// The fields of a document or of an edit's patch that may be removed.
private struct PayloadFields {
    private let event: Event
    private let document: JSONDocument?
    private let patch: Patch?
    /// Fields that identify the entity, or repeat the event's header.
    private let fixed: Set<ExactString>
    private let lists: [KeyedList]

    init(_ event: Event, _ model: SyncModel) {
        self.event = event
        let collection = event.collection.flatMap { model[$0] }
        lists = collection?.keyed ?? []
        fixed = Set(
            ([collection?.idField ?? "id"] + [collection?.lastChangeField].compactMap(\.self))
                .map(ExactString.init))
        switch event.kind.form {
        case .patch: (document, patch) = (nil, try? Patch(parsing: event.payload))
        case .document where event.entity != nil:
            (document, patch) = (try? JSONDocument(parsing: event.payload), nil)
        case .document, .registration, .members, .nothing, nil: (document, patch) = (nil, nil)
        }
    }

    var names: [String] {
        (patch?.fieldNames ?? document?.keys ?? []).filter { !fixed.contains(ExactString($0)) }
    }

    func value(_ name: String) -> JSONValue? {
        if let patch { return patch.value(of: name).flatMap { try? JSONValue(parsing: $0) } }
        return document?.value(name)
    }

    /// Nil where nothing would be left of the edit.
    func without(_ names: Set<String>) -> [UInt8]? {
        let gone = Set(names.map(ExactString.init))
        if var patch {
            patch.set.removeAll { gone.contains(ExactString($0.name)) }
            patch.unset.removeAll { gone.contains(ExactString($0)) }
            return patch.isEmpty ? nil : patch.encoded
        }
        return document?.applying(set: [], unset: names.sorted())
    }

    func with(_ name: String, _ value: JSONValue) -> [UInt8]? {
        if var patch {
            let exact = ExactString(name)
            guard let index = patch.set.firstIndex(where: { ExactString($0.name) == exact }) else {
                return nil
            }
            // An element goes on with its key.
            if let (list, key) = lists.element(name), value[list.key].flatMap(KeyedList.key) != key
            {
                return nil
            }
            patch.set[index].value = value.encoded()
            return patch.encoded
        }
        return document?.applying(set: [(name, value.encoded())])
    }
}
