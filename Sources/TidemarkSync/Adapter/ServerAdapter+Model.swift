// ServerAdapter+Model.swift — whether an adapter can do what a model asks of it.

package import TidemarkEvents

extension ServerAdapter {
    /// Refuses a model that asks for what the adapter can't do: a feed of a server that does not
    /// list by fields, or not by these; lists with parameters, or pools, that it does not know.
    ///
    /// - Parameter isBound: whether a store is synced with it already, so that it stays with what
    ///   does no harm.
    /// - Throws: ``ModelError`` with the place in the model, and what to do.
    package func check(
        _ registration: ModelRegistration, isBound: Bool = false
    ) throws(ModelError) {
        let name = registration.remote.map { "the adapter \"\($0.adapter)\"" } ?? "the adapter"
        try checkPools(registration.model, name)
        for (index, collection) in registration.model.collections.enumerated()
        where !collection.localOnly {
            try checkLists(collection, at: "collections[\(index)].lists", name)
            guard collection.isByPath == traits.hasPaths else {
                throw ModelError(
                    "collections[\(index)].tree",
                    traits.hasPaths
                        ? "\(name) knows only paths; describe \(collection.name) as a tree with "
                            + "\"isByPath\": true"
                        : "\(name) knows no paths; leave isByPath out, or sync it with a server "
                            + "that does")
            }
            let isUnpaged = !isBound && traits.unpaged.contains(collection.name)
            guard collection.listLimit == nil || (traits.numberedPages != nil && !isUnpaged) else {
                throw ModelError(
                    "collections[\(index)].listLimit",
                    "\(name) numbers no pages of \(collection.name); leave listLimit out, or give "
                        + "each list a limit of its own")
            }
            guard let feed = collection.feed else { continue }
            let path = "collections[\(index)].feed"
            guard traits.hasFeeds else {
                throw ModelError(
                    path,
                    "\(name) can't list \(collection.name) by fields of its records; leave feed "
                        + "out, or sync it with a server that can")
            }
            for (member, field) in [("order", feed.order), ("change", feed.change)] {
                let block = FeedBlock(field, .upTo(FeedKey("")), limit: feed.block)
                do throws(SyncFailure) {
                    _ = try request(for: .feed(collection, block))
                } catch {
                    throw ModelError("\(path).\(member)", error.detail)
                }
            }
        }
    }

    private func checkPools(_ model: SyncModel, _ name: String) throws(ModelError) {
        for pool in model.pools {
            guard traits.reservesValues else {
                throw ModelError(
                    "pools.\(pool.name)",
                    "\(name) can't have values reserved; leave pools out, or sync it with a server "
                        + "that can")
            }
            for (index, key) in pool.keys.enumerated() {
                do throws(SyncFailure) {
                    let call = ServerCall.reserve(
                        pool: pool.name, key: key, pattern: nil, count: pool.fill)
                    _ = try request(for: call)
                } catch {
                    throw ModelError("pools.\(pool.name).keys[\(index)]", error.detail)
                }
            }
        }
    }

    private func checkLists(
        _ collection: CollectionModel, at path: String, _ name: String
    ) throws(ModelError) {
        for (index, list) in (collection.lists ?? []).enumerated()
        where !list.parameters.isEmpty || !list.from.isEmpty {
            guard traits.hasListParameters else {
                throw ModelError(
                    path,
                    "\(name) can't list parts of \(collection.name); leave lists out, or sync it "
                        + "with a server that can")
            }
            do throws(SyncFailure) {
                // What documents have is not known yet: any text is as good.
                let parameters = asked(
                    list.with(list.from.map { ($0.parameter, "0") }), of: collection,
                    at: Timestamp(rawValue: 0), { _ in nil })
                _ = try request(for: .listPart(collection, parameters, after: nil, page: nil))
            } catch {
                throw ModelError("\(path)[\(index)].parameters", error.detail)
            }
        }
    }
}

extension ServerAdapter {
    /// Why a write is refused before it is sent: the adapter refuses it, or has no request for it.
    ///
    /// Nil for any other call, and where the failure may pass or stops the run.
    ///
    /// - Parameter take: is handed the request, where there is one.
    package func refusalBeforeSending(
        of call: ServerCall, _ take: (ServerRequest) -> Void = { _ in }
    ) -> ServerRefusal? {
        guard call.isWriteOfOne else { return nil }
        if let refusal = refusal(of: call) { return refusal }
        do throws(SyncFailure) {
            take(try request(for: call))
            return nil
        } catch {
            let mayPass = error.stopsRun || error.isTransient || error == .forbidden
            return mayPass ? nil : ServerRefusal(status: 0, message: error.detail)
        }
    }

    /// The request of each write by itself.
    func requests(for items: [PushItem]) throws(SyncFailure) -> [ServerRequest] {
        var requests: [ServerRequest] = []
        for item in items { requests.append(try request(for: item.call)) }
        return requests
    }
}
