// AdapterCase.swift — short words for what an adapter's answers mean, the same for all adapters.

import HTTPTypes
import TidemarkSync

/// A test's adapter.
protocol AdapterCase {
    associatedtype Adapter: ServerAdapter
    var adapter: Adapter { get }
}

extension AdapterCase {
    /// What an answer means.
    func answer(
        to call: ServerCall, _ status: Int, _ body: String = "", _ fields: HTTPFields = [:]
    ) -> ServerAnswer {
        adapter.answer(
            to: call,
            HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: fields),
            body: Array(body.utf8))
    }

    /// The failure that an answer is taken for, or nil.
    func failure(
        to call: ServerCall, _ status: Int, _ body: String = "", _ fields: HTTPFields = [:]
    ) -> SyncFailure? {
        if case .failure(let failure) = answer(to: call, status, body, fields) {
            failure
        } else {
            nil
        }
    }
}
