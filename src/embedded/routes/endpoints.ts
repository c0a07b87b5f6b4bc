import type { RouteName } from '../../contract/routes.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { downloadAsset } from './assets/download-asset.ts'
import { downloadFrame, downloadScene } from './assets/video-representations.ts'
import { checkAccess } from './check-access.ts'
import { createAssetViewUrl, createResourceViewUrl } from './create-view-urls.ts'
import { createDirectory } from './directories/create-directory.ts'
import { listDirectory } from './directories/list-directory.ts'
import { createLibrary } from './libraries/create-library.ts'
import { deleteLibrary } from './libraries/delete-library.ts'
import { listLibraries } from './libraries/list-libraries.ts'
import { showLibrary } from './libraries/show-library.ts'
import { downloadResource } from './resources/download-resource.ts'
import { showResource } from './resources/show-resource.ts'
import { uploadFile } from './resources/upload-file.ts'
import { searchResources } from './search-resources.ts'

/** Every route of the contract has its endpoint. */
export const ENDPOINTS = {
  checkAccess,
  downloadAsset,
  downloadScene,
  downloadFrame,
  createAssetViewUrl,
  listLibraries,
  createLibrary,
  showLibrary,
  deleteLibrary,
  listDirectory,
  createDirectory,
  uploadFile,
  showResource,
  searchResources,
  downloadResource,
  createResourceViewUrl,
} satisfies Record<RouteName, Endpoint>
