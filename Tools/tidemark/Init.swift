// Init.swift — `tidemark init`: a new store with its model.

import ArgumentParser
import Foundation
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkViews

struct Init: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Makes a store with a model.",
        discussion: """
            MODEL.json holds the collections and the server (Schemas/model.schema.json):

              {"name":"todo",
               "collections":[
                 {"name":"lists","conflict":"serverWins"},
                 {"name":"tasks","conflict":"localWins","references":{"list":"lists"}}],
               "remote":{"origin":"http://127.0.0.1:8888","adapter":"kinto",
                         "bucket":"todo"}}

            A collection stands after those it refers to. The credentials are never
            stored: sync takes them from the environment variable TIDEMARK_CREDENTIALS, or
            the one that the remote names as "credentialsVariable". Its value is
            NAME:PASSWORD for HTTP Basic, or the whole value of the Authorization header,
            also with "Authorization: " before it.
            """)

    @Argument(help: "The directory to make; it must not hold a store yet.")
    var store: String

    @Option(help: ArgumentHelp("The file with the model.", valueName: "MODEL.json"))
    var model: String
    @OptionGroup var patience: WaitOption

    func run() throws {
        guard let data = FileManager.default.contents(atPath: model) else {
            throw UsageError("\(model) can't be read")
        }
        let registration: ModelRegistration
        do throws(ModelError) {
            registration = try Adapters.completed(try ModelRegistration(parsing: Array(data)))
        } catch { throw UsageError("\(model): \(error)") }
        do {
            if try Journal.holdsEvents(at: store) {
                throw UsageError("\(store) holds a store already")
            }
            let replica = try Replica.open(
                at: store, model: registration.model, remote: registration.remote,
                waiting: patience.waiting)
            try replica.close()
        } catch { throw TidemarkError.wrapping(error) }
        let names = registration.model.collections.map(\.name.rawValue).joined(separator: ", ")
        Terminal.write("made \(store) with the collections \(names)")
    }
}
