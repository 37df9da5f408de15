// PushPlanner.swift — which writes are sent next, and which share a request. A value: it reads
// nothing and sends nothing.
//
//   candidates, some at a time → look at the first → it waits, or is asked about, or joins the
//              current call → the call is full, or the next write can't join it → send
//
// A write that can only not join this call, as one of another part or tree, is put aside for the
// next call; unread, where the call has no room for another tree and it can stand in none of it.
//
// Each candidate is read just before it is sent: an earlier write may have changed it.

package import TidemarkEvents
import TidemarkRules
package import TidemarkViews

/// One entity's part of a push.
package struct PushItem: Sendable, Hashable {
    /// The entity that the write touches.
    package var key: EntityKey
    package var call: ServerCall
    /// The mutations that the write carries, in order.
    package var covers: [Position]
    /// Why it is refused without being sent; nil where it is sent.
    package var refusal: ServerRefusal?
    /// Whether its mutations were refused in an earlier run.
    package var wasRefused = false
    /// What is left out of the write, as warnings.
    package var leftOut: [ServerIssue] = []
    /// Whether the write has a precondition, where the server may ignore it.
    package var isConditional = false

    package init(
        _ key: EntityKey, _ call: ServerCall, covers: [Position], refusal: ServerRefusal? = nil
    ) {
        self.key = key
        self.call = call
        self.covers = covers
        self.refusal = refusal
    }
}

/// Plans one round of a push: each candidate is sent, read or skipped once.
package struct PushPlanner: Sendable {
    /// How often the precondition of one and the same write may fail before it counts as refused:
    /// the answers in between do not explain it.
    package static let samesMax = 3
    /// The most bytes of bodies in one request, unless a single body is larger.
    package static let batchBytesMax = 1 << 20
    /// How many candidates are found at a time, or some more.
    package static let candidatesAtOnce = 128
    /// How many candidates are put aside for later calls; then the call is sent.
    static let asideMax = 2048

    /// The next step of the push.
    package enum Next: Sendable, Hashable {
        /// Read an entity's pending write, for ``PushPlanner/take(_:_:)``.
        case look(PushCandidate)
        /// Find more candidates by ``PushPlanner/rest``, for ``PushPlanner/add(_:rest:)``.
        case more
        /// Send writes in one request; those with a refusal are not sent.
        case send([PushItem])
        /// Read an entity whose version is not known.
        case ask(EntityKey, ServerCall)
        /// Read an entity whose write can be sent, and look at its candidate again at once.
        case readFirst(PushCandidate, ServerCall)
        /// List a folder before it is deleted.
        case list(EntityKey)
    }

    /// What this run knows of a candidate.
    package struct Standing: Sendable, Hashable {
        /// Whether it is sent alone: it failed before, and may be why a whole batch failed.
        package var isAlone = false
        /// How often it met a newer version, or was read back.
        package var conflicts = 0
        /// Whether it is a folder that is listed before it is deleted.
        package var isUnlisted = false
        /// The write whose precondition failed last.
        package var met: ServerCall?
        package var metCount = 0
        /// Whether it is read just before it is written.
        package var isReadFirst = false

        package init() {}
    }

    private let model: SyncModel
    private let traits: ServerTraits
    private var waiting: ArraySlice<PushCandidate> = []
    /// Candidates that come after the call that is being planned: their writes are of other parts
    /// of its collection, or of other trees.
    private var aside: [PushCandidate] = []
    /// What was not on the server that candidates refer to, when they were put aside for it.
    private var lacking: [EntityKey: Set<EntityKey>] = [:]
    /// What finds the candidates that come later; nil for none.
    package private(set) var rest: PushQueue?
    /// The call that is being planned.
    private var items: [PushItem] = []
    /// What is in the call and is not refused, by the server's ids.
    private var planned: [EntityKey: EntityKey] = [:]
    /// What stands in another entity of the call, with that one.
    private var outer: [EntityKey: EntityKey] = [:]
    /// How many writes fit into the call, without those that stand in others.
    private var most = 1
    private var bytes = 0
    /// Whether the call that is being planned is full.
    private var isFull = false
    /// Whether anything was planned.
    package private(set) var hasPlanned = false

    /// A round whose candidates are added next.
    package init(_ model: SyncModel, _ traits: ServerTraits) {
        self.model = model
        self.traits = traits
    }

    /// Adds the candidates that come next.
    package mutating func add(_ candidates: [PushCandidate], rest: PushQueue?) {
        waiting += candidates
        self.rest = rest
    }

    /// How many candidates were not planned yet, as far as is known.
    package var left: Int { waiting.count + aside.count + (rest?.left ?? 0) }

    /// The next step; nil when every candidate was planned.
    ///
    /// - Parameter count: the most writes in one request.
    package mutating func next(upTo count: Int) -> Next? {
        most = max(1, count)
        guard !isFull, hasRoom || nests else { return flush() }
        if !hasRoom { putOthersAside() }
        if let first = waiting.first { return .look(first) }
        return rest == nil ? flush() : .more
    }

    /// Has a candidate looked at once more, before all others.
    package mutating func putFirst(_ candidate: PushCandidate) { waiting = [candidate] + waiting }

    /// Skips the entity that was to be read.
    package mutating func pass() { waiting.removeFirst() }

    /// Plans the pending write of the entity that was to be read.
    ///
    /// - Returns: a question or a refusal that comes first; nil to go on.
    package mutating func take(_ pending: PendingWrite?, _ standing: Standing) -> Next? {
        guard let candidate = waiting.first else {
            preconditionFailure("no candidate is looked at")
        }
        guard let pending, let collection = model[candidate.key.collection]
        else {
            waiting.removeFirst()
            return nil
        }
        if standing.isAlone, !items.isEmpty {
            isFull = true
            return nil
        }
        let isUnknown = pending.isLive && pending.revision == nil
        // An action that makes nothing goes by itself to a server that knows ids.
        let isNowhere = pending.isNowhere && (pending.action == nil || collection.isByPath)
        let isAskedFirst =
            isUnknown && traits.isVersioned(collection) || pending.isBlind(in: collection, standing)
            || standing.isUnlisted
        if isNowhere || pending.action == nil && isAskedFirst {
            if isNowhere, pending.wasRefused {
                waiting.removeFirst()
                return nil
            }
            guard items.isEmpty else {
                isFull = true
                return nil
            }
            waiting.removeFirst()
            hasPlanned = true
            // A person has to say what becomes of it, whether or not there is a version.
            if isNowhere { return refused(pending, collection, .nowhere) }
            if standing.isUnlisted { return .list(pending.key) }
            // Without a version there is no precondition: the entity is read first.
            return ask(pending, collection, standing)
        }
        let around = holder(of: pending, collection)
        guard let item = item(pending, collection, standing, in: around) else {
            waiting.removeFirst()
            // What it refers to may have been put aside.
            if mayPutAside, traits.nestedIn[candidate.key.collection] != nil, nests {
                aside.append(candidate)
                lacking[candidate.key] = Set(pending.needs)
            }
            return nil
        }
        lacking[candidate.key] = nil
        if standing.isReadFirst, item.refusal == nil, !items.isEmpty {
            isFull = true
            return nil
        }
        let holder = item.refusal == nil ? around : nil
        guard holder != nil || joins(item) else {
            if isForLater(item) { aside.append(waiting.removeFirst()) } else { isFull = true }
            return nil
        }
        let size = item.call.bodyBytes
        guard items.isEmpty || bytes + size <= Self.batchBytesMax else {
            isFull = true
            return nil
        }
        waiting.removeFirst()
        if standing.isReadFirst, item.refusal == nil {
            hasPlanned = true
            return .readFirst(candidate, .read(collection, id: pending.id))
        }
        items.append(item)
        outer[item.key] = holder
        if item.refusal == nil {
            planned[EntityKey(item.key.collection, pending.id)] = item.key
        }
        bytes += size
        isFull = standing.isAlone
        return nil
    }

    /// Whether one more write fits into the call beside those that stand in others.
    private var hasRoom: Bool {
        let isTree = items.first.map { traits.nests($0.key.collection) } ?? false
        return items.count - outer.count < (isTree ? min(most, traits.treesPerRequestMax) : most)
    }

    /// Puts aside the next candidates that can stand in nothing of the call, without a look.
    private mutating func putOthersAside() {
        while let next = waiting.first, mayPutAside, !mayStand(next) {
            aside.append(waiting.removeFirst())
        }
    }

    /// Whether a candidate is looked at though the call has no room for another tree: it may stand
    /// in one, or ends the call.
    private func mayStand(_ candidate: PushCandidate) -> Bool {
        if candidate.isDeletion { return true }
        let name = candidate.key.collection
        guard let around = traits.nestedIn[name] else { return name != items.first?.key.collection }
        return planned.keys.contains { $0.collection == around }
            && lacking[candidate.key, default: []].isSubset(of: planned.values)
    }

    /// Whether writes may stand in those of the call.
    private var nests: Bool {
        guard most > 1, let first = items.first else { return false }
        return !first.call.isDeletion && traits.nestedIn.values.contains(first.key.collection)
    }

    /// The entity of the call in which a write stands: the one that it refers to.
    private func holder(of pending: PendingWrite, _ collection: CollectionModel) -> EntityKey? {
        guard nests, let around = traits.nestedIn[collection.name],
            let document = pending.write?.body.flatMap({ try? JSONDocument(parsing: $0) })
        else { return nil }
        let ids = collection.references.filter { $0.collection == around }.flatMap {
            document.ids(in: $0.field)
        }
        let holders = Set(ids.compactMap { planned[EntityKey(around, $0)] })
        guard holders.count == 1, let holder = holders.first else { return nil }
        // Whatever else it refers to must be there before it.
        var above: Set = [holder]
        var next = outer[holder]
        while let key = next {
            above.insert(key)
            next = outer[key]
        }
        return above.isSuperset(of: pending.needs) ? holder : nil
    }

    /// Whether a write goes beside those of the call.
    private func joins(_ item: PushItem) -> Bool {
        guard let first = items.first else { return true }
        return hasRoom && first.mayShare(item, traits) && !first.isOfAnotherPart(than: item, traits)
    }

    /// Whether a write that does not join the call is put aside, as others may join it still.
    private func isForLater(_ item: PushItem) -> Bool {
        guard mayPutAside, let first = items.first else { return false }
        if first.isOfAnotherPart(than: item, traits) { return true }
        return nests && !item.call.isDeletion
            && (first.mayShare(item, traits) || traits.nestedIn[item.key.collection] != nil)
    }

    private var mayPutAside: Bool { aside.count < Self.asideMax }

    /// Whether what a write refers to is created in the request that is being planned.
    private func isPlanned(_ need: EntityKey, _ pending: PendingWrite) -> Bool {
        traits.bundled.contains(pending.key.collection)
            && items.contains { $0.key == need && $0.refusal == nil }
    }

    private mutating func flush() -> Next? {
        guard !items.isEmpty else { return nil }
        let calls = items
        (items, planned, outer, bytes, isFull, hasPlanned) = ([], [:], [:], 0, false, true)
        if !aside.isEmpty {
            waiting = aside + waiting
            aside = []
        }
        return .send(calls)
    }

    /// Handles an entity without a known version: it is read, and if the server gives no version
    /// its mutations are refused, since a write could undo changes of others.
    private func ask(
        _ pending: PendingWrite, _ collection: CollectionModel, _ standing: Standing
    ) -> Next {
        guard standing.conflicts > 0 else {
            return .ask(pending.key, .read(collection, id: pending.id))
        }
        return refused(pending, collection, .unversioned)
    }

    /// The refusal of what has no write.
    private func refused(
        _ pending: PendingWrite, _ collection: CollectionModel, _ refusal: ServerRefusal
    ) -> Next {
        let call = ServerCall.delete(
            collection, id: pending.key.id, revision: PushWrite.noRevision)
        return .send([PushItem(pending.key, call, covers: pending.covers, refusal: refusal)])
    }

    /// The write for an entity; nil when it has to wait.
    private func item(
        _ pending: PendingWrite, _ collection: CollectionModel, _ standing: Standing,
        in holder: EntityKey?
    ) -> PushItem? {
        if let action = pending.action { return item(action, pending, collection) }
        guard let write = pending.write else { return nil }
        var refusal = collection.refusal(of: write.operation)
        if write.operation == .update, collection.updates == .changes, !traits.sendsChanges {
            refusal = "the model has \(collection.name) send changes, and the adapter can't"
        }
        if refusal == nil { refusal = pending.refusal }
        let clash = refusal == nil ? pending.clash : nil
        let isRefused = refusal != nil || clash != nil
        // What is still refused here is not refused again in every run.
        if isRefused, pending.wasRefused { return nil }
        // A refused write waits for nothing.
        guard
            isRefused
                || (pending.files.isEmpty
                    && (pending.needs.allSatisfy { isPlanned($0, pending) }
                        || holder != nil))
        else { return nil }
        let call = write.call(in: collection, id: pending.id)
        var item = PushItem(pending.key, call, covers: pending.covers)
        item.wasRefused = pending.wasRefused
        item.leftOut = pending.leftOut
        item.isConditional = pending.isConditional
        item.refusal = refusal.map { ServerRefusal(status: 0, message: $0) } ?? clash?.refusal
        if standing.met == call, standing.metCount >= Self.samesMax { item.refusal = .unexplained }
        return item
    }
}

extension PushPlanner {
    /// What the server is to do with an entity, or have it be; nil where that has to wait.
    private func item(
        _ action: LocalRequested, _ pending: PendingWrite, _ collection: CollectionModel
    ) -> PushItem? {
        let call = ServerCall.perform(
            collection, id: pending.id, action: action.action, parameters: action.texts,
            document: action.document)
        var item = PushItem(pending.key, call, covers: pending.covers)
        item.wasRefused = pending.wasRefused
        var refusal = pending.refusal
        if collection.rule(of: action.action) == nil {
            refusal = "the model has no action \(action.action) any more"
        }
        if let refusal {
            if pending.wasRefused { return nil }
            item.refusal = ServerRefusal(status: 0, message: refusal)
            return item
        }
        return pending.files.isEmpty && pending.needs.isEmpty ? item : nil
    }
}

extension PendingWrite {
    /// Why it is refused because of what it names; nil where it is not.
    fileprivate var refusal: String? {
        if let stranded {
            let named = "\(stranded.field) names \(stranded.id)"
            return stranded.inCircle
                ? "\(named), which gets its id from the server only after this: leave it out, and "
                    + "set it once both are there"
                : "\(named), which is not here any more"
        }
        if let unseen {
            return "\(unseen) lies in it, and was not seen here when it was deleted: discard the "
                + "deletion to look, or keep mine to delete it with all that is known of it by now"
        }
        if let unshown {
            return "the server does not list all that lies in \(unshown), which would go with it: "
                + "see that it does and try again, or discard the deletion"
        }
        if isUnplaced {
            return "it is not here, and the server knows it by its path alone: discard this"
        }
        return files.lazy.compactMap(\.refusal).first
    }
}

extension PendingWrite.Clash {
    fileprivate var refusal: ServerRefusal {
        switch self {
        case .circle: .circle
        case .name: .taken()
        case .itself: .itself
        }
    }
}

extension UnsentFile {
    /// Why a write that names it is refused; nil where it waits.
    fileprivate var refusal: String? {
        switch standing {
        case .waits: nil
        case .missing: "\(field) names a file that is not here: \(digest)"
        case .refused(0): "the file that \(field) names can't be sent: \(digest)"
        case .refused(let status):
            "the server did not take the file that \(field) names (\(status)): \(digest)"
        }
    }
}

extension PushItem {
    /// Whether both may share a request: same collection or both bundled, both deletions or
    /// neither.
    fileprivate func mayShare(_ other: PushItem, _ traits: ServerTraits) -> Bool {
        guard call.isDeletion == other.call.isDeletion, !call.isAction, !other.call.isAction else {
            return false
        }
        return key.collection == other.key.collection
            || (traits.bundled.contains(key.collection)
                && traits.bundled.contains(other.key.collection))
    }
}

extension PushItem {
    /// Whether only a field keeps both from sharing a request: its value, or that one has it.
    fileprivate func isOfAnotherPart(than other: PushItem, _ traits: ServerTraits) -> Bool {
        guard key.collection == other.key.collection, mayShare(other, traits) else { return false }
        if let field = traits.presenceFields[key.collection],
            (call.value(field) == nil) != (other.call.value(field) == nil)
        {
            return true
        }
        guard let field = traits.partitionFields[key.collection] else { return false }
        return call.value(field) != other.call.value(field)
    }
}

extension ServerTraits {
    /// Whether one request may create what it refers to.
    var sendsTogether: Bool { !bundled.isEmpty || !nestedIn.isEmpty }

    /// Whether entities of a collection stand in others, or others in them.
    fileprivate func nests(_ collection: CollectionName) -> Bool {
        nestedIn[collection] != nil || nestedIn.values.contains(collection)
    }
}

extension ServerCall {
    /// The value of a field in what is sent; nil for null, too.
    fileprivate func value(_ field: String) -> JSONValue? {
        let value = write?.body.flatMap { JSON.value(field, of: $0) }
        return value == .some(.null) ? .none : value
    }

    /// Whether it deletes an entity.
    package var isDeletion: Bool { if case .delete = self { true } else { false } }

    fileprivate var bodyBytes: Int { write?.body?.count ?? 0 }
}

extension PushWrite {
    /// The document that it sends; nil for a deletion.
    var body: [UInt8]? {
        switch self {
        case .create(let body), .update(let body, _, _): body
        case .delete: nil
        }
    }

    /// The call that sends it.
    func call(in collection: CollectionModel, id: String) -> ServerCall {
        switch self {
        case .create(let body): .create(collection, id: id, body: body)
        case .update(let body, let changes, let revision):
            .update(collection, id: id, body: body, changes: changes, revision: revision)
        case .delete(let revision): .delete(collection, id: id, revision: revision)
        }
    }
}
