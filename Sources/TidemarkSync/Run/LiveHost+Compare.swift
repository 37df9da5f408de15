// LiveHost+Compare.swift — fetches a file, or its checksums, and compares it with one of the
// store's, for a write that got no answer (ContentProof.swift).

import HTTPTypes
import TidemarkEvents
import TidemarkStore
import TidemarkViews

extension LiveHost {
    /// The answer to a request for a file, with what its comparison says in the place of the file.
    func compare(
        _ proof: ContentProof, _ question: SyncQuestion, _ head: HTTPRequest,
        _ limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        guard let files = journal.contentFiles else {
            throw TransportError(.file, detail: "the store is read-only")
        }
        if let request = proof.checksums {
            return try await compareChecksums(proof, request, head, limits, files)
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
        // Who refuses says it in a page that may be longer than the file.
        limits.responseBytesMax = max(proof.bytes, limits.responseBytesMax)
        var file = TransportFile(path)
        // A longer file is another one, for which the time need not be enough.
        file.bytesMax = proof.bytes
        let answer: TransportTransfer
        do throws(TransportError) {
            answer = try await transport.transfer(head, body: nil, into: file, limits: limits)
        } catch  where error.code == .tooLarge {
            guard proof.mayBeLonger else {
                return ContentProof.answerWithoutFile(HTTPResponse(status: .ok))
            }
            return ContentProof.answer(.other, HTTPResponse(status: .ok))
        }
        guard answer.response.status == .ok, answer.written != nil else {
            return TransportResponse(response: answer.response, body: answer.body)
        }
        do {
            let response = answer.response
            let found = try await BlockingWork.run { try finding(proof, files, part, response) }
            guard let found else { return ContentProof.answerWithoutFile(response) }
            return ContentProof.answer(found, response)
        } catch { throw TransportError(file: error) }
    }

    /// The answer to a request for a file's checksums, with what they say in their place.
    private func compareChecksums(
        _ proof: ContentProof, _ request: ServerRequest, _ head: HTTPRequest,
        _ limits: TransportLimits, _ files: ContentFiles
    ) async throws(TransportError) -> TransportResponse {
        let answer = try await transport.send(head, body: request.body, limits: limits)
        guard answer.response.status.kind == .successful else { return answer }
        let told = adapter.checksums(of: proof.record, in: answer.body)
        var said = HTTPResponse(status: .ok, headerFields: answer.response.headerFields)
        // It would be that of the answer.
        said.headerFields[.eTag] = nil
        let use = journal.shared.contents
        use.begin(proof.digest)
        defer { use.end(proof.digest) }
        do {
            let isHere = try files.bytes(of: proof.digest) == UInt64(clamping: proof.bytes)
            let finding = try await BlockingWork.run {
                try told?.finding(proof.record, bytes: proof.bytes) { algorithm in
                    guard let hash = algorithm.hash else { return proof.digest }
                    return try hash.digits(of: files.path(of: proof.digest), bytes: proof.bytes)
                }
            }
            return ContentProof.answer(isHere ? finding ?? .untold : .untold, said)
        } catch { throw TransportError(file: error) }
    }

    /// What came; nil where it is not the file.
    private func finding(
        _ proof: ContentProof, _ files: ContentFiles, _ part: String, _ head: HTTPResponse
    ) throws -> ContentProof.Finding? {
        let came = try files.content(ofPart: part)
        if came.digest == proof.digest { return .same }
        guard proof.isOfFile(came.bytes, head) else { return nil }
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
