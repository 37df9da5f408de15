// SyncDriver+Compare.swift — fetches a file and compares it with one of the store's, for a write
// that got no answer (ContentProof.swift).

import HTTPTypes
import TidemarkEvents
import TidemarkStore
import TidemarkViews

extension SyncDriver {
    /// Fetches what the server has, and hands what it is to the machine.
    func compare(_ proof: ContentProof, _ run: inout SyncRun) async throws -> SyncAction {
        run.waited = 0
        let step = SyncStep.compare(proof)
        let question = question(step, proof.call, proof.request, asOf: run.asOf, in: run)
        let reply = try host.ask(question, run.proof.credentials, limits)
        let (answer, record) = await reply.answer()
        var exchange = ReadExchange(question, reply, record)
        exchange.key = proof.key
        exchange.settles = proof.attempt?.call
        return try await took(
            exchange, step, answer, isCut: isCut(answer, record, since: run.moment), &run)
    }
}

extension LiveHost {
    /// The answer to a request for a file, with what its comparison says in the place of the file.
    func compare(
        _ proof: ContentProof, _ question: SyncQuestion, _ head: HTTPRequest,
        _ limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        guard let files = journal.contentFiles else {
            throw TransportError(.file, detail: "the store is read-only")
        }
        let part = "compare-\(question.asOf.rawValue)"
        let use = journal.shared.contents
        use.begin(part: part)
        defer {
            try? files.remove(part: part)
            use.end(part: part)
        }
        let path: String
        do {
            try files.make(part: part)
            path = try files.path(ofPart: part)
        } catch { throw TransportError(file: error) }
        var limits = limits
        limits.responseBytesMax = proof.bytes
        let answer: TransportTransfer
        do throws(TransportError) {
            answer = try await transport.transfer(
                head, body: nil, into: TransportFile(path), limits: limits)
        } catch  where error.code == .tooLarge {
            return ContentProof.answer(.other, HTTPResponse(status: .ok))
        }
        guard answer.response.status == .ok, answer.written != nil else {
            return TransportResponse(response: answer.response, body: answer.body)
        }
        do {
            let finding = try finding(proof, files, part)
            return ContentProof.answer(finding, answer.response)
        } catch { throw TransportError(file: error) }
    }

    private func finding(
        _ proof: ContentProof, _ files: ContentFiles, _ part: String
    ) throws -> ContentProof.Finding {
        let came = try files.content(ofPart: part)
        if came.digest == proof.digest { return .same }
        guard came.bytes < UInt64(clamping: proof.bytes),
            try files.bytes(of: proof.digest) == UInt64(clamping: proof.bytes)
        else { return .other }
        let count = Int(clamping: came.bytes)
        var (theirs, ours) = (
            try PartReader(files.path(ofPart: part), offset: 0, count: count),
            try PartReader(files.path(of: proof.digest), offset: 0, count: count)
        )
        while theirs.left > 0 {
            let bytes = try theirs.next(Self.bytesAtOnce)
            var own: [UInt8] = []
            while own.count < bytes.count { own += try ours.next(bytes.count - own.count) }
            if own != bytes { return .other }
        }
        return .part
    }

    private static let bytesAtOnce = 64 << 10
}
