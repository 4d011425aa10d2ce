import "@shared/theme.css";
import { mount } from "svelte";
import App from "./App.svelte";
import { listen } from "./router.svelte.ts";
import { begin } from "./theme.svelte.ts";

begin();
listen();
const target = document.getElementById("app");
if (target) mount(App, { target });
