// Adapters.swift — the server adapters that the tool knows: those of the app that it is made for,
// and the library's.

import Foundation
import Synchronization
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkHTTP
import TidemarkReplay
import TidemarkSync

/// The adapters by which commands speak to servers and read recorded answers.
enum Adapters {
    private static let own = Mutex<[String: CommandLineTool.MakeAdapter]>([:])

    /// Takes in those of the app, at the start.
    static func use(_ adapters: [String: CommandLineTool.MakeAdapter]) {
        own.withLock { $0 = adapters }
    }

    /// The app's adapter for a remote; nil where it has none of that name.
    ///
    /// - Throws: a ``ModelError`` where the remote does not fit.
    static func own(_ remote: Remote) throws(ModelError) -> (any ServerAdapter)? {
        guard let make = own.withLock({ $0[remote.adapter] }) else { return nil }
        do { return try make(remote) } catch let error as ModelError { throw error } catch {
            throw ModelError("remote", "\(error)")
        }
    }

    /// The adapter for a remote.
    ///
    /// - Throws: a ``ModelError`` that names all that are known where that one is not, and what is
    ///   wrong of a remote that does not fit.
    static func make(_ remote: Remote) throws(ModelError) -> any ServerAdapter {
        if let adapter = try own(remote) { return adapter }
        let names = own.withLock { $0.keys.sorted() }
        let known = AdapterMembers.known.map(\.name)
        guard names.isEmpty || known.contains(remote.adapter) else {
            let all = (known + names).map { "\"\($0)\"" }.joined(separator: ", ")
            throw ModelError("remote.adapter", "\"\(remote.adapter)\" is not known; \(all) are")
        }
        return try remote.makeAdapter()
    }

    /// The words of a remote's server; none where its adapter is not known.
    static func words(of remote: Remote) -> ServerWords {
        if let adapter = try? own(remote) { return adapter.words }
        return remote.words
    }

    /// The registration with what the remote's adapter gives to collections.
    ///
    /// - Throws: a ``ModelError`` where the remote's adapter is not known, or it does not fit.
    static func completed(
        _ registration: ModelRegistration
    ) throws(ModelError) -> ModelRegistration {
        guard let remote = registration.remote else { return try registration.checked() }
        _ = try make(remote)
        var registration = registration
        registration.remote = remote.withAdapterDefaults
        return try registration.checked()
    }

    /// The app's adapter by which a recorded log is decided again; nil for the library's.
    static func own(_ capsule: Capsule) throws(ModelError) -> (any ServerAdapter)? {
        guard let remote = try? capsule.lastRegistration()?.remote else { return nil }
        return try own(remote)
    }
}
