/** A test that gets no further: it has a lab with a program that runs, says where, and waits to be killed. */
import { helloScript } from "./hello-script.ts";
import { call, pushImage, REPOSITORY } from "./images.ts";
import { dockerLab } from "./lab.ts";

const lab = await dockerLab();
const digest = await pushImage(lab.api, { tag: "1.0.0", program: helloScript("1.0.0") });
await call(lab.api, "POST", `/images/create?fromImage=${REPOSITORY}&tag=${digest}`);
const json = { Image: `${REPOSITORY}@${digest}`, Env: ["PORT=8080"], HostConfig: { NetworkMode: "host" } };
await call(lab.api, "POST", "/containers/create?name=hello", { json });
await call(lab.api, "POST", "/containers/hello/start");
process.stdout.write(lab.folder);
setInterval(() => undefined, 60_000);
