import { afterAll, beforeAll, describe } from 'vitest'
import { accessContract } from './access-contract.ts'
import { contentContract } from './content-contract.ts'
import { directoryContract } from './directory-contract.ts'
import { libraryContract } from './library-contract.ts'
import { searchContract } from './search-contract.ts'
import { ServiceClient, type ServiceUnderTest } from './service-client.ts'
import { uploadContract } from './upload-contract.ts'

export type { ServiceUnderTest } from './service-client.ts'

/** What the parts of the suite work with; only to be used inside tests. */
export interface ContractContext {
  readonly service: ServiceUnderTest
  readonly client: ServiceClient
  /** An empty library. */
  newLibrary(): Promise<string>
}

/** The suite that every implementation of the service interface, version 0.9.0, must pass. */
export function describeServiceContract(name: string, start: () => Promise<ServiceUnderTest>): void {
  describe(`The service contract, kept by ${name}`, () => {
    let service: ServiceUnderTest
    beforeAll(async () => {
      service = await start()
    })
    afterAll(() => service[Symbol.asyncDispose]())
    const context: ContractContext = {
      get service() {
        return service
      },
      get client() {
        return new ServiceClient(service)
      },
      newLibrary: () => new ServiceClient(service).createLibrary(),
    }
    for (const part of PARTS) part(context)
  })
}

const PARTS = [accessContract, libraryContract, directoryContract, uploadContract, contentContract, searchContract]
