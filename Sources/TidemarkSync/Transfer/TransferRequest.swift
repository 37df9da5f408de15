// TransferRequest.swift — a request for a file: how the log has it, and what is sent.

import HTTPTypes
package import TidemarkEvents
import TidemarkRules
package import TidemarkViews

/// A request for a file that is logged.
package struct TransferRequest: Sendable {
    package var plan: TransferPlan
    /// Nil where the name of the file is no address, so that nothing is sent.
    package var address: FileAddress?
    /// Its `request.sent`.
    package var call: Position
    /// The name of the part file.
    package var part: String
}

extension RowReading {
    /// The event of the request that is to be made next; nil where none is.
    ///
    /// - Parameters:
    ///   - now: by the device's clock.
    ///   - last: the log's last position before it.
    ///   - adapter: says where the file lies.
    ///   - isAwaited: whether somebody waits for all that is due.
    ///   - isAway: whether the server that has a file by a rule is not to be asked; nil where all
    ///     are.
    ///   - isGone: whether a part file does not hold so many bytes any more.
    package func nextTransferEvent(
        at now: Timestamp, after last: Position, _ adapter: any ServerAdapter,
        isAwaited: Bool, order: TransferOrder = .neverFailedFirst,
        isAway: ((ContentSource, ContentRule) throws -> Bool)? = nil,
        isGone: (_ part: String, _ bytes: UInt64) throws -> Bool
    ) throws -> (event: Event, plan: TransferPlan, address: FileAddress?)? {
        var isPartGone = false
        let next = try nextTransfer(
            at: now, isAwaited: isAwaited, order: order, isAway: isAway
        ) { part, bytes in
            isPartGone = try isGone(part, bytes)
            return isPartGone
        }
        guard var plan = next else { return nil }
        plan.length = try listedLength(of: plan, adapter)
        let entity = try plan.key.map { key in
            EntityKey(key.collection, try serverID(of: key))
        }
        let place = adapter.address(
            ofFile: plan.source.text, in: plan.rule.field, of: entity)
        let remote = try registration()?.remote
        let address = place.flatMap { FileAddress(of: $0, remote) }
        var request = RequestSent()
        request.method = "GET"
        request.path = address?.logged
        request.ifMatch = plan.tag
        request.sentAt = now
        request.file.source = plan.source.text
        request.file.from = plan.from
        request.file.count = plan.count
        request.file.isPartGone = isPartGone
        let event = Event(
            .requestSent, recordedAt: now, key: plan.key, collection: plan.source.collection,
            asOf: last, json: request.encoded)
        return (event, plan, address)
    }
}

extension RowReading {
    /// How many bytes a list told of the file that is asked for, in the version that it must be of;
    /// nil where none did.
    package func listedLength(
        of plan: TransferPlan, _ adapter: any ServerAdapter
    ) throws -> UInt64? {
        guard plan.version != nil, adapter.traits.lengthField != nil, let key = plan.key else {
            return nil
        }
        let row = try entity(at: .entity(key))
        guard !row.isAssumed else { return nil }
        return adapter.listedLength(in: row.base).flatMap { UInt64(exactly: $0) }
    }
}

extension ServerAdapter {
    /// How many bytes a file has, as the document of a list says; nil where lists don't tell.
    func listedLength(in document: [UInt8]) -> Int64? {
        guard let field = traits.lengthField else { return nil }
        return JSON.value(field, of: document)?.int64Value
    }
}

extension TransferRequest {
    /// What is sent; `proof` goes only to the remote.
    func head(_ proof: Credentials) -> HTTPRequest? {
        guard let address else { return nil }
        var fields = HTTPFields()
        fields[.acceptEncoding] = "identity"
        if let count = plan.count {
            let (end, overflow) = plan.from.addingReportingOverflow(max(count, 1) - 1)
            fields[.range] = "bytes=\(plan.from)-\(overflow ? .max : end)"
        }
        if let tag = plan.tag { fields[.ifMatch] = tag }
        if address.isOwn { for field in proof.headers { fields[field.name] = field.value } }
        return HTTPRequest(
            method: .get, url: address.origin, path: address.path, headers: fields)
    }
}

extension TransportLimits {
    /// The same with time for so many bytes, beside the usual time.
    func allowing(bytes: UInt64) -> TransportLimits {
        var limits = self
        let counted = min(bytes, TransferRequest.bytesMax)
        limits.deadline += .seconds(Int64(counted / TransferRequest.bytesPerSecondMin))
        return limits
    }
}

extension TransferRequest {
    /// The slowest rate, in bytes per second, at which an answer is still waited for.
    package static let bytesPerSecondMin: UInt64 = 16 << 10
    /// The longest answer that a deadline is reckoned for: 1 TiB.
    fileprivate static let bytesMax: UInt64 = 1 << 40

    /// The limits of the exchange: time by the bytes that may come, beside the usual time, and
    /// bytes for a file, which has its own limit, and for an answer without it.
    func limits(_ usual: TransportLimits) -> TransportLimits {
        var limits = usual.allowing(bytes: bytesExpected)
        limits.responseBytesMax = max(plan.rule.bytesMax, usual.responseBytesMax)
        return limits
    }

    private var bytesExpected: UInt64 {
        let most = min(UInt64(clamping: plan.rule.bytesMax), Self.bytesMax)
        guard var bytes = plan.count else { return most }
        // The whole may come instead of a part as long as no part has come: more with each failure.
        if plan.progress.total == nil {
            for _ in 0..<min(plan.progress.failures, 40) where bytes < most { bytes *= 2 }
        }
        return min(bytes, most)
    }
}
