// Adapters.swift — the server adapters of the tool: those of the app that it is made for, and the
// library's.

import Foundation
import Synchronization
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkHTTP
import TidemarkReplay
import TidemarkSync

/// The adapters with which commands call servers and read recorded answers.
enum Adapters {
    private static let own = Mutex<[String: CommandLineTool.MakeAdapter]>([:])

    /// Takes the app's adapters, when the tool starts.
    static func use(_ adapters: [String: CommandLineTool.MakeAdapter]) {
        own.withLock { $0 = adapters }
    }

    /// The app's adapter for a remote; nil where it has none of that name.
    ///
    /// - Throws: a ``ModelError`` where the adapter can't be made for the remote.
    static func own(_ remote: Remote) throws(ModelError) -> (any ServerAdapter)? {
        guard let make = own.withLock({ $0[remote.adapter] }) else { return nil }
        do { return try make(remote) } catch let error as ModelError { throw error } catch {
            throw ModelError("remote", "\(error)")
        }
    }

    /// The adapter for a remote.
    ///
    /// - Throws: a ``ModelError`` that lists all known adapters where this one is unknown, or tells
    ///   what is wrong with the remote.
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

    /// The vocabulary of a remote's server; empty where its adapter is not known.
    static func words(of remote: Remote) -> ServerWords {
        if let adapter = try? own(remote) { return adapter.words }
        return remote.words
    }

    /// The registration with the adapter's defaults for collections.
    ///
    /// - Throws: a ``ModelError`` where the remote's adapter is unknown, can't be made for the
    ///   remote, or can't do what the model asks for.
    static func completed(
        _ registration: ModelRegistration
    ) throws(ModelError) -> ModelRegistration {
        guard let remote = registration.remote else { return try registration.checked() }
        let adapter = try make(remote)
        var registration = registration
        registration.remote = remote.withAdapterDefaults
        registration = try registration.checked()
        try adapter.check(registration)
        return registration
    }

    /// The app's adapter to decide a recorded log again; nil for the library's.
    static func own(_ capsule: Capsule) throws(ModelError) -> (any ServerAdapter)? {
        guard let remote = try? capsule.lastRegistration()?.remote else { return nil }
        return try own(remote)
    }
}
